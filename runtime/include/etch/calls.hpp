// SPDX-License-Identifier: Apache-2.0
// The public functions of a generated model, all but what differs from model to model: NAME.cpp defines the structs
// below and its functions are one call each of these templates.
//
// An Encoder computes rows from token ids:
//     struct Arena                      the plan, made of a workspace's arena: every buffer at its place. The calls use
//                                       ids and segments [kLimits.max_tokens], tokenizer, scratch, and texts
//                                       [most_texts(kLimits.max_tokens)]
//     kTokenizer                        tables of any type that tokenize() and tokenize_pair() are declared for
//     TokenLimits kLimits               of token ids, those from outside, too
//     const KernelList& kKernels        that computes with the weights
//     std::size_t kScratchBytes         of each worker
//     bool kPairs                       whether it takes two texts
//     forward(run, texts, arena)        ids and segments in the arena -> the rows that heads read
//     note(input, text, arena)          where a head reads more of the input than its tokens, that while it is there:
//                                       for a Text, Pair or TokenIds whose tokens are the rows `text`. Such an arena
//                                       has offsets [kLimits.max_tokens], too
//
// A Head makes an answer of them:
//     Encoder                           whose rows it reads
//     struct Result                     has members tokens and truncated, which the calls fill in
//     compute(run, texts, text, arena)  rows of one text -> outputs in the arena
//     finish(run, arena, result)        outputs -> the other members of the result; where these are rows of tokens,
//                                       finish(run, text, arena, result), with the rows that the text has
//     forget_views(result)              where a result has views of the workspace: without them
//     describe_text(result, tokens, truncated)   where a result has parts of which each has these members
//
// A Generator writes, a token after the other (calls/generation.hpp, which generative models include).
//
// A public call takes its turn at the workspace (calls/turn.hpp) before it reads anything there; what it is made of,
// NAME_in_turn(), has it already.
//
// All are static. forward(), compute() and finish() are templates over the runner (ops/op.hpp). The calls are inlined:
// a public function is one frame on the stack, with the arena's pointers in it.
#pragma once

#include "etch/calls/answer.hpp"
#include "etch/calls/encode.hpp"
#include "etch/calls/kernel.hpp"
#include "etch/calls/steps.hpp"
