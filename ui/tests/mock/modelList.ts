import type { ApiError, Endpoint, EndpointDraft, ModelRef } from "../../src/lib/api/generated";
import * as data from "./data";
import { guessedDialect } from "./dialects";
import type { MockEngine } from "./engine";

/** The models and endpoints of the scripted engine. */
export class MockModelList {
	constructor(private readonly engine: MockEngine) {}

	op_list_models = () => this.engine.models;
	op_remove_model = ({ id }: { id: string }) => this.engine.deletions.delete(this.engine.models, id);
	op_model_states = () => this.engine.modelLoads.all();
	op_load_model = ({ id }: { id: string }) => this.engine.modelLoads.load(id);
	op_unload_model = ({ id }: { id: string }) => this.engine.modelLoads.unload(id);
	op_remove_model_projector = ({ id }: { id: string }) => this.engine.modelLoads.removeProjector(id);
	op_pair_model_projector = ({ id }: { id: string }) => this.engine.modelLoads.pairProjector(id);
	op_set_adapter_weight = ({ id, path, weight }: { id: string; path: string; weight: number }) => this.engine.modelLoads.setWeight(id, path, weight);
	op_remove_model_adapter = ({ id, path }: { id: string; path: string }) => this.engine.modelLoads.removeAdapter(id, path);
	op_embedding_choice = () => this.engine.modelLoads.embedding;
	op_use_bundled_embedding_model = () => this.engine.modelLoads.useBundledEmbedding();
	op_measure_model = () => this.engine.modelLoads.measure();
	op_list_devices = () => this.engine.modelLoads.devices;
	op_delete_model_file = ({ id }: { id: string }) => this.engine.deletions.delete(this.engine.models, id);
	op_list_endpoints = () => this.engine.endpoints;
	op_delete_endpoint = ({ id }: { id: string }) => this.engine.deletions.delete(this.engine.endpoints, id);
	op_save_endpoint = ({ draft }: { draft: EndpointDraft }): Endpoint => {
		const known = this.engine.endpoints.find(({ id }) => id === draft.id);
		const id = known?.id ?? `endpoint${this.engine.next++}`;
		const { name, url, model, context } = draft;
		const dialect = draft.dialect ?? known?.dialect ?? guessedDialect(url);
		const models = draft.models?.map((one, index) => ({ id: `${id}-${index}`, ...one })) ?? known?.models ?? [];
		const headers = draft.headers?.map((header) => header.name) ?? known?.headers ?? [];
		const saved: Endpoint = { default: false, defaultModel: null, countedWith: "estimate", meanError: null, hasKey: draft.key !== null, keyIsForSession: true, learned: [], ...known, id, name, dialect, url, model, context, models, headers };
		this.engine.endpoints = [...this.engine.endpoints.filter((one) => one !== known), saved];
		return saved;
	};
	op_endpoint_services = () => data.services;
	op_recent_models = (): ModelRef[] => [{ kind: "remote", id: "e2-5" }, { kind: "local", id: "m2" }];
	op_refresh_endpoint = ({ id }: { id: string }) => {
		if (id === "e2") throw { kind: "provider", class: "unauthorized", message: "https://openrouter.ai/api/v1 needs an API key (401).", hint: "Enter the key in the endpoint's settings." } satisfies ApiError;
		return { models: this.engine.endpoints.find((endpoint) => endpoint.id === id)?.models ?? [], context: null, price: null, dialect: "openai" as const, tookMs: 38 };
	};
	op_remove_endpoint_tokenizer = ({ id }: { id: string }) => this.counts(id, "estimate");
	op_test_endpoint = ({ draft }: { draft: EndpointDraft }) => {
		const dialect = draft.dialect ?? guessedDialect(draft.url);
		if (dialect === "anthropic") return { models: [{ name: "claude-sonnet-4-5", context: 200_000, typed: false }], context: 200_000, price: null, dialect, tookMs: 61 };
		if (draft.url.includes("1234")) return { price: { input: 0.4, output: 2 }, dialect, models: ["gemma-3-12b-it", "qwen3-8b", "mistral-small-3.2-24b-instruct"].map((name) => ({ name, context: null, typed: false })), context: 32_768, tookMs: 42 };
		throw { kind: "provider", class: "unreachable", message: "127.0.0.1:8080 refused the connection.", hint: "Start the server, or check the port. Newer llama.cpp servers listen on 9931." } satisfies ApiError;
	};

	/** Sets how the tokens of an endpoint are counted. */
	counts(id: string, countedWith: Endpoint["countedWith"]): Endpoint {
		const found = this.engine.endpoints.find((endpoint) => endpoint.id === id);
		if (!found) throw { kind: "notFound", message: "This endpoint is no longer there." } satisfies ApiError;
		return Object.assign(found, { countedWith, meanError: null });
	}
}
