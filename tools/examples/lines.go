// SPDX-License-Identifier: Apache-2.0

// All lines of standard input, in Go, with the C header of a model and its two libraries:
//
//	CGO_CFLAGS="-I/opt/etch/include" CGO_LDFLAGS="-L/opt/etch/lib -letch_agnews -letch" go run lines.go
package main

/*
#include <agnews.h>
#include <stdlib.h>
#include <string.h>

static etch_agnews_workspace* new_workspace(void) {
    etch_agnews_workspace* workspace = aligned_alloc(64, sizeof *workspace);
    if (workspace != NULL) memset(workspace, 0, sizeof *workspace);
    return workspace;
}
*/
import "C"

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"unsafe"
)

func main() {
	log.SetFlags(0)
	workspace := C.new_workspace() // of C's memory: the model keeps pointers in it
	if workspace == nil {
		log.Fatal("no memory")
	}
	defer C.free(unsafe.Pointer(workspace))
	workspace.special_tokens = C.ETCH_SPECIAL_TOKENS_PLAIN_TEXT // nobody types a [SEP]

	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	var text []byte
	for lines.Scan() {
		text = append(append(text[:0], lines.Bytes()...), 0) // a byte more: even an empty line has a first one
		var result C.etch_agnews_result
		status := C.etch_agnews_classify(workspace, (*C.char)(unsafe.Pointer(&text[0])), C.size_t(len(text)-1), &result)
		if status != C.ETCH_OK {
			log.Fatal(C.GoString(C.etch_agnews_describe(status)))
		}
		label := C.etch_agnews_label(result.label)
		fmt.Printf("%s\t%.4f\n", C.GoStringN(label.data, C.int(label.size)), float32(result.probability[result.label]))
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}
