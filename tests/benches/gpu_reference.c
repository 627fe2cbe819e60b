// Speed of llama.cpp's own library, the reference of gpu.sh: reads a prompt in batches of 512 tokens and writes greedily,
// like `llama-bench -p 1024 -n 128`, without any of our code.
//
//   gpu_reference BACKENDS MODEL.gguf GPU_LAYERS PROMPT_TOKENS NEW_TOKENS ROUNDS
//
// Loads the backends in the folders of BACKENDS, separated by colons.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ggml-backend.h"
#include "llama.h"

enum { BATCH = 512, CONTEXT = 4096 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void only_errors(enum ggml_log_level level, const char *text, void *unused) {
    (void)unused;
    if (level == GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
}

static int fail(const char *what) {
    fprintf(stderr, "gpu_reference: %s\n", what);
    return 1;
}

static llama_token likeliest(struct llama_context *context, int tokens) {
    const float *logits = llama_get_logits_ith(context, -1);
    int best = 0;
    for (int token = 1; token < tokens; token++) {
        if (logits[token] > logits[best]) best = token;
    }
    return best;
}

int main(int count, char **arguments) {
    if (count != 7) return fail("six arguments are needed");
    llama_log_set(only_errors, NULL);
    for (char *folder = strtok(arguments[1], ":"); folder != NULL; folder = strtok(NULL, ":")) {
        ggml_backend_load_all_from_path(folder);
    }
    llama_backend_init();
    struct llama_model_params of_model = llama_model_default_params();
    of_model.n_gpu_layers = atoi(arguments[3]);
    int prompt = atoi(arguments[4]), tokens = atoi(arguments[5]), rounds = atoi(arguments[6]);
    struct llama_model *model = llama_model_load_from_file(arguments[2], of_model);
    if (model == NULL) return fail("the model cannot be loaded");
    struct llama_context_params of_context = llama_context_default_params();
    of_context.n_ctx = CONTEXT;
    of_context.n_batch = of_context.n_ubatch = BATCH;
    struct llama_context *context = llama_init_from_model(model, of_context);
    if (context == NULL || prompt + tokens > CONTEXT) return fail("the context cannot be made");
    int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));

    // The first round warms up and is not printed.
    for (int round = 0; round <= rounds; round++) {
        llama_memory_clear(llama_get_memory(context), true);
        llama_token batch[BATCH];
        double started = seconds();
        for (int done = 0; done < prompt; done += BATCH) {
            int size = prompt - done < BATCH ? prompt - done : BATCH;
            for (int at = 0; at < size; at++) batch[at] = (round * 7919 + (done + at) * 104729) % vocabulary;
            if (llama_decode(context, llama_batch_get_one(batch, size)) != 0) return fail("the prompt cannot be read");
        }
        llama_synchronize(context);
        double read = seconds();
        for (int at = 0; at < tokens; at++) {
            llama_token next = likeliest(context, vocabulary);
            if (llama_decode(context, llama_batch_get_one(&next, 1)) != 0) return fail("a token cannot be written");
        }
        llama_synchronize(context);
        double written = seconds();
        if (round > 0) printf("%.1f %.1f\n", prompt / (read - started), tokens / (written - read));
    }
    llama_free(context);
    llama_model_free(model);
    return 0;
}
