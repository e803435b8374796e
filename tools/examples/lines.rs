// SPDX-License-Identifier: Apache-2.0
// All lines of standard input with two threads, in Rust: rustc -O lines.rs -L native=FOLDER, with libetch_agnews.so there.
use std::ffi::{c_char, c_int, c_void, CStr};
use std::io::Read;
use std::ptr::null_mut;

const WIDTH: usize = 4; // labels

#[repr(C)]
struct Texts { data: *const u8, offsets: *const i64, wide: i32 }

#[repr(C)]
struct Text { data: *const c_char, size: usize }

#[repr(C)]
struct Outputs {
    values: *mut f32, logits: *mut f32, labels: *mut i32, tokens: *mut i32, truncated: *mut u8,
    spans: *mut c_void, span_counts: *mut i32, aggregation: i32, // of taggers
}

#[link(name = "etch_agnews")]
extern "C" {
    fn etch_agnews_session_open(threads: u32, plain_text: i32) -> *mut c_void;
    fn etch_agnews_session_close(session: *mut c_void);
    fn etch_agnews_session_run(session: *mut c_void, first: *const Texts, second: *const Texts, count: usize,
                               outputs: *const Outputs) -> i32;
    fn etch_agnews_label(index: u32) -> Text;
    fn etch_agnews_describe(status: c_int) -> *const c_char;
}

fn main() {
    let mut data = Vec::new();
    std::io::stdin().read_to_end(&mut data).expect("standard input");
    let lines: Vec<&[u8]> = data.split_inclusive(|&byte| byte == b'\n').collect();
    let mut offsets = vec![0i64];
    offsets.extend(lines.iter().scan(0, |end, line| { *end += line.len() as i64; Some(*end) }));
    let (mut values, mut labels) = (vec![0f32; lines.len() * WIDTH], vec![0i32; lines.len()]);
    let (mut tokens, mut truncated) = (vec![0i32; lines.len()], vec![0u8; lines.len()]);
    let texts = Texts { data: data.as_ptr(), offsets: offsets.as_ptr(), wide: 1 };
    let outputs = Outputs {
        values: values.as_mut_ptr(), logits: null_mut(), labels: labels.as_mut_ptr(), tokens: tokens.as_mut_ptr(),
        truncated: truncated.as_mut_ptr(), spans: null_mut(), span_counts: null_mut(), aggregation: 0,
    };
    // SAFETY: offsets has one entry more than there are lines, every output as many as there are.
    unsafe {
        let session = etch_agnews_session_open(2, 1);
        assert!(!session.is_null(), "memory or a thread was refused");
        let status = etch_agnews_session_run(session, &texts, null_mut(), lines.len(), &outputs);
        assert!(status == 0, "{:?}", CStr::from_ptr(etch_agnews_describe(status)));
        for (row, &label) in labels.iter().enumerate() {
            let name = CStr::from_ptr(etch_agnews_label(label as u32).data).to_string_lossy();
            println!("{}\t{:.4}", name, values[row * WIDTH + label as usize]);
        }
        etch_agnews_session_close(session);
    }
}
