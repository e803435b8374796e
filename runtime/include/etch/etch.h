/* SPDX-License-Identifier: Apache-2.0
 *
 * What the C headers of all models share: the types of status.hpp and tokenizer.hpp for C99 and later. */
#ifndef ETCH_ETCH_H
#define ETCH_ETCH_H

#include <stddef.h>
#include <stdint.h>

#include "etch/version.h"

/* Stops the compiler with this message, which may be made of macros. */
#ifdef __cplusplus
#define ETCH_STOP(message) static_assert(false, message)
#else
#define ETCH_STOP(message) __extension__ _Static_assert(0, message)
#endif

#define ETCH_ALIGNED(bytes) __attribute__((aligned(bytes)))

typedef enum etch_status {
    ETCH_OK = 0,
    ETCH_NO_TOKENS,            /* token ids: count is 0; a text of which the tokenizer makes none */
    ETCH_TOO_MANY_TOKENS,      /* token ids: count is above ETCH_NAME_MAX_TOKENS */
    ETCH_TOKEN_OUT_OF_RANGE,   /* token ids: an id is negative or not in the vocabulary */
    ETCH_SEGMENT_OUT_OF_RANGE, /* token ids: a segment is not in the model's segment table */
    ETCH_PAIR_NOT_SUPPORTED,   /* the model has one segment type only */
    ETCH_TEXT_TOO_LONG,        /* a text of 2^32 - 1 bytes or more: offsets are 32-bit */
    ETCH_KERNEL_UNKNOWN,       /* no kernel of that name exists for this model's packing */
    ETCH_KERNEL_NOT_USABLE,    /* the kernel exists, this CPU cannot run it */
    ETCH_TABLE_MISMATCH,       /* self test: the CRC of a weight table differs from the generated one */
    ETCH_GOLDEN_MISMATCH,      /* self test: a golden text gives other ids or outputs than the generated ones */
    ETCH_IN_PROGRESS,          /* step: the budget is spent, the result is not there yet */
    ETCH_NOT_BEGUN,            /* step: begin was not called or refused, or what it began has ended since */
    /* Of GPUs only: */
    ETCH_NO_DEVICE,             /* no NVIDIA GPU, or no driver for it */
    ETCH_DEVICE_UNKNOWN,        /* no GPU of that index */
    ETCH_DRIVER_TOO_OLD,        /* the driver is older than the CUDA runtime that the program was built with */
    ETCH_DEVICE_NOT_SUPPORTED,  /* the GPU is older than compute capability 8.0 */
    ETCH_DEVICE_OUT_OF_MEMORY,  /* not enough memory on the GPU, or not enough page-locked memory */
    ETCH_DEVICE_FAILED,         /* the CUDA runtime reported an error */
    ETCH_DEVICE_LIBRARY_FAILED, /* cuBLASLt reported an error */
    ETCH_MODE_NOT_SUPPORTED,    /* the model's recipe has no such mode */
    ETCH_SHAPE_NOT_SUPPORTED,   /* the model has longer rows or texts than the kernels for GPUs can take */
    ETCH_ROWS_OUT_OF_RANGE,     /* a session for fewer rows than one text may have, or for too many */
    ETCH_NOT_OPEN,              /* the weights or the session were not opened */
    /* Of what the caller brings: */
    ETCH_EXECUTOR_FAILED,      /* the executor did not call the task of each worker once */
    ETCH_TEXT_OVERLAPS,        /* a text or token ids lie in the workspace, or where the call writes */
    ETCH_WORKSPACE_MISALIGNED, /* the workspace does not lie at a multiple of 64 bytes */
    ETCH_WORKSPACE_IN_USE,     /* another call is under way in it, of another thread or what an interrupt interrupted */
    /* Of labels that are given at run time: */
    ETCH_NO_LABELS,           /* there is none */
    ETCH_HYPOTHESIS_TOO_LONG, /* a label's hypothesis leaves no room for the text, which alone is cut */
    /* Of a generative model: */
    ETCH_SAMPLING_OUT_OF_RANGE, /* the temperature or top_p is none that can be drawn with */
    /* Of a model with regions: */
    ETCH_REGION_MISSING,    /* the workspace was not given one of them */
    ETCH_REGION_MISALIGNED, /* one does not lie at a multiple of 64 bytes */
    ETCH_TABLES_NOT_COPIED  /* of a model with such tables: its copy_tables was not called */
} etch_status;

/* How special tokens typed by a user, such as "[SEP]", are read: member special_tokens of a workspace. */
enum {
    ETCH_SPECIAL_TOKENS_RECOGNIZED = 0, /* "[SEP]" becomes the [SEP] id: what Hugging Face does */
    ETCH_SPECIAL_TOKENS_PLAIN_TEXT = 1, /* special tokens are ordinary text: safe for untrusted input */
    ETCH_SPECIAL_TOKENS_IN_TEXT = 2     /* recognized, and none are written around a text, which has its own */
};

/* Bytes [begin, end) of the original text that a token came from. */
typedef struct etch_token_offset {
    uint32_t begin;
    uint32_t end;
} etch_token_offset;

/* What a span of a tagger is; decode/tags.hpp says what each means. */
enum {
    ETCH_AGGREGATION_NONE = 0, /* tokens */
    ETCH_AGGREGATION_SIMPLE,   /* entities of tokens */
    ETCH_AGGREGATION_FIRST,    /* entities of words, by their first tokens, */
    ETCH_AGGREGATION_AVERAGE,  /* their mean probabilities, */
    ETCH_AGGREGATION_MAX       /* or their surest tokens */
};

/* A span that a tagger found. */
typedef struct etch_tag_span {
    uint32_t label; /* ETCH_AGGREGATION_NONE: of a label, else of an entity */
    float score;
    uint32_t begin; /* bytes [begin, end) of the text; of token ids, the numbers of tokens */
    uint32_t end;
} etch_tag_span;

/* What a text is to a model that gives a vector for each token. */
enum { ETCH_SIDE_DOCUMENT = 0, ETCH_SIDE_QUERY };

/* An entry of the vocabulary that may stand where a mask is. */
typedef struct etch_candidate {
    int32_t id;
    float probability; /* over the whole vocabulary */
} etch_candidate;

/* An entry of the vocabulary and what a text weighs it, above 0. */
typedef struct etch_token_weight {
    int32_t id;
    float weight;
} etch_token_weight;

/* The pseudo-log-likelihood of a text; decode/score.hpp says what each member means. */
typedef struct etch_score {
    float log_probability;
    uint32_t scored;
    uint32_t tokens;
    uint8_t truncated;
} etch_score;

/* An answer to a question, and what is wanted; decode/answers.hpp says what each member means. */
typedef struct etch_answer_span {
    float score;
    uint32_t begin; /* bytes [begin, end) of the context, none for "no answer"; of token ids, the numbers of tokens */
    uint32_t end;
} etch_answer_span;

typedef struct etch_answer_options {
    uint32_t top;
    uint32_t window;
    uint32_t stride;
    uint32_t longest;
    uint8_t no_answer;
    uint8_t by_tokens;
} etch_answer_options;

/* Why no more tokens were written; decode/generation.hpp says what each means. */
enum { ETCH_ENDED_END = 0, ETCH_ENDED_LENGTH, ETCH_ENDED_CAPACITY };

/* How tokens are drawn, from the next call on; decode/sampling.hpp says what each member means. */
typedef struct etch_sampling {
    uint64_t seed;
    uint32_t text;
    float temperature;
    uint32_t top_k;
    float top_p;
} etch_sampling;

/* Several threads for one inference, brought by the caller; executor.hpp says what each member means. */
typedef struct etch_executor {
    uint32_t workers;
    void* context;
    /* Calls task(argument, w) once for every w in [0, workers), returns when all of them have returned. */
    void (*run)(void* context, void (*task)(void* argument, uint32_t worker), void* argument);
    uint8_t* scratch; /* [workers - 1][ETCH_NAME_SCRATCH_BYTES], 64-byte aligned */
} etch_executor;

/* How far a call in steps has come: the functions of a model write it, nobody else. */
typedef struct etch_step_cursor {
    const void* kernels;
    uint32_t op;
    uint32_t unit;
    uint8_t truncated;
    uint8_t found;
    uint8_t group;
} etch_step_cursor;

/* Bytes: from a model, for as long as the program runs; of the caller, in a batch. */
typedef struct etch_text {
    const char* data;
    size_t size;
} etch_text;

typedef struct etch_text_pair {
    etch_text first;
    etch_text second;
} etch_text_pair;

#endif /* ETCH_ETCH_H */
