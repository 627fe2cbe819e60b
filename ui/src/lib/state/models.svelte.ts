import type { Endpoint, Model, ModelRef } from "../api/generated";
import type { Api } from "./api";

/** The model that answers, and its host, so that the user can see where the text is sent. */
export interface AnsweringModel {
	name: string;
	/** Address of the endpoint, with its port on this computer; `null` for a model that the app runs itself. */
	host: string | null;
	/** Whether the model belongs to an endpoint. */
	endpoint: boolean;
	/** The endpoint; `null` for a model that the app runs itself. */
	endpointId: string | null;
	/** Whether a local model reads pictures. For an endpoint, a setting says so. */
	readsPictures: boolean;
	/** The model's file is missing, so a message to it fails. */
	missing: boolean;
}

/** A model in the picker. */
export interface ModelOption {
	ref: ModelRef;
	name: string;
	/** The endpoint's name; empty for local models. */
	group: string;
	/** The model's file is missing. */
	missing: boolean;
}

export interface ModelGroup {
	/** `recent`, `local` or an endpoint id. */
	id: string;
	/** The endpoint's name; `null` for the other groups. */
	title: string | null;
	models: ModelOption[];
}

/** All models: local files and endpoints. */
export class Models {
	local = $state.raw<Model[]>([]);
	endpoints = $state.raw<Endpoint[]>([]);
	loaded = $state(false);
	#asked = 0;

	constructor(private readonly api: Api) {}

	async load(): Promise<void> {
		const asked = ++this.#asked;
		const [local, endpoints] = await Promise.all([this.api.listModels(), this.api.listEndpoints()]);
		// A later request may be answered first.
		if (asked !== this.#asked) return;
		[this.local, this.endpoints, this.loaded] = [local, endpoints, true];
	}

	/**
	 * The model for `chosen`. Without a choice, or if it was deleted, the default model, or else any local model. The engine
	 * chooses in the same way: a model whose file is missing stays chosen.
	 */
	answering(chosen: ModelRef | null | undefined): AnsweringModel | null {
		return this.#find(chosen) ?? this.#default();
	}

	/** Finds an endpoint by its own id or the id of one of its models, with the name of the model to use. */
	remote(id: string): { endpoint: Endpoint; model: string } | null {
		for (const endpoint of this.endpoints) {
			if (endpoint.id === id) return { endpoint, model: endpoint.model };
			const model = endpoint.models.find((one) => one.id === id);
			if (model) return { endpoint, model: model.name };
		}
		return null;
	}

	/** The models of the picker in groups. `recent` comes first and keeps its order. */
	choices(recent: readonly ModelRef[]): ModelGroup[] {
		const local = this.local.map((model) => ({ ref: { kind: "local", id: model.id } as const, name: model.name, group: "", missing: model.missing }));
		const remote = this.endpoints.map((endpoint) => ({ id: endpoint.id, title: endpoint.name, models: modelsOf(endpoint) }));
		const all = [...local, ...remote.flatMap(({ models }) => models)];
		const known = recent.flatMap((ref) => all.find((one) => one.ref.kind === ref.kind && one.ref.id === ref.id) ?? []);
		const groups = [
			{ id: "recent", title: null, models: known },
			{ id: "local", title: null, models: local },
			...remote,
		];
		return groups.filter(({ models }) => models.length > 0);
	}

	/** Whether both refer to the same model. An endpoint id refers to its default model. */
	same(first: ModelRef | null | undefined, second: ModelRef): boolean {
		if (first?.kind !== second.kind) return false;
		if (first.id === second.id) return true;
		const [one, other] = [this.remote(first.id), this.remote(second.id)];
		return one !== null && other !== null && one.endpoint.id === other.endpoint.id && one.model === other.model;
	}

	#find(chosen: ModelRef | null | undefined): AnsweringModel | null {
		if (chosen?.kind === "local") return ofModel(this.local.find(({ id }) => id === chosen.id));
		const remote = chosen ? this.remote(chosen.id) : null;
		return remote && ofEndpoint(remote.endpoint, remote.model);
	}

	#default(): AnsweringModel | null {
		const endpoint = this.endpoints.find((one) => one.default);
		const chosen = ofModel(this.local.find((model) => model.default)) ?? (endpoint ? ofEndpoint(endpoint, endpoint.defaultModel ?? endpoint.model) : null);
		return chosen ?? ofModel(this.local.find((model) => !model.missing));
	}
}

function ofModel(model: Model | undefined): AnsweringModel | null {
	return model ? { name: model.name, host: null, endpoint: false, endpointId: null, readsPictures: model.readsPictures, missing: model.missing } : null;
}

/** The name of the endpoint, plus the model if the endpoint has several. */
function ofEndpoint(endpoint: Endpoint, model: string): AnsweringModel {
	const several = endpoint.models.length > 1 && model !== "" && model !== endpoint.name;
	return { name: several ? `${endpoint.name} · ${model}` : endpoint.name, host: hostOf(endpoint.url), endpoint: true, endpointId: endpoint.id, readsPictures: false, missing: false };
}

function modelsOf(endpoint: Endpoint): ModelOption[] {
	const option = (id: string, name: string): ModelOption => ({ ref: { kind: "remote", id }, name, group: endpoint.name, missing: false });
	const preset = endpoint.models.some(({ name }) => name === endpoint.model) ? [] : [option(endpoint.id, endpoint.model || endpoint.name)];
	// An endpoint with a list but no default model cannot be chosen itself.
	const own = endpoint.model === "" && endpoint.models.length > 0 ? [] : preset;
	return [...own, ...endpoint.models.map(({ id, name }) => option(id, name))];
}

/** The host that a text is sent to. On this computer the port tells the program: it may be a gateway that sends the text on. */
export function hostOf(url: string): string {
	const address = URL.parse?.(url);
	if (!address) return url;
	return isLoopback(address.hostname) ? address.host : address.hostname;
}

function isLoopback(host: string): boolean {
	return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(?:\.\d+){3}$/.test(host);
}
