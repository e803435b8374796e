// SPDX-License-Identifier: Apache-2.0
// ask.mjs MODULE: a model's module without what `etch web` writes around it. Reads [[function, text, second or null], ...]
// as JSON, prints each output, or `status N: message` where the call failed.
import { readFileSync } from "node:fs";

const { instance, module } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
const asked = JSON.parse(readFileSync(0, "utf8"));
const model = instance.exports;
model._initialize();

function put(index, text) {
  const bytes = new TextEncoder().encode(text);
  const place = model.etch_input(index, bytes.length);  // the memory may grow there
  new Uint8Array(model.memory.buffer, place, bytes.length).set(bytes);
}

function call(name, text, second) {
  put(0, text);
  if (second !== null) put(1, second);
  const status = model[`etch_${name}`](second === null ? 0 : 1);
  const output = new Uint8Array(model.memory.buffer, model.etch_output(), model.etch_output_bytes());
  const said = new TextDecoder().decode(output).trimEnd();
  return status === 0 ? said : `status ${status}: ${said}`;
}

const lines = [JSON.stringify(WebAssembly.Module.imports(module)), ...asked.map((one) => call(...one))];
process.stdout.write(`${lines.join("\n")}\n`);
