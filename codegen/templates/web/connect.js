// Out of a worker: send(name, values, transferred) -> Promise of its message. send.close(why) ends the worker, and all
// that is under way.
function connect(worker) {
  const waiting = new Map();
  let count = 0;
  let closed;
  const fail = (message) => {
    for (const { reject } of waiting.values()) reject(new Error(message));
    waiting.clear();
  };
  worker.onmessage = ({ data }) => {
    const { resolve, reject } = waiting.get(data.id);
    waiting.delete(data.id);
    if ("error" in data) reject(new Error(data.error));
    else resolve(data);
  };
  worker.onerror = (event) => fail(event.message ?? "the worker could not be started");
  const send = (name, values, transferred = []) =>
    new Promise((resolve, reject) => {
      if (closed !== undefined) throw new Error(closed);
      const id = count++;
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, name, values }, transferred);
    });
  send.close = (why) => {
    worker.terminate();
    closed = why;
    fail(why);
  };
  return send;
}
