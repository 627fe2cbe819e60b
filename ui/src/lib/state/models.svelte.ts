import { asApiError } from "../api/errors";
import type { ApiError, Endpoint, EndpointDraft, EndpointTest, Model, ModelRef } from "../api/generated";
import type { Api } from "./api";

/** Who answers, in words: where the text goes is what a reader wants to know. */
export interface Answering {
	name: string;
	/** Host of the endpoint; `null` where everything stays on this machine. */
	host: string | null;
	/** It is no file on this machine. */
	endpoint: boolean;
}

/** Everything that can answer: files on this machine and endpoints elsewhere. */
export class Models {
	local = $state.raw<Model[]>([]);
	endpoints = $state.raw<Endpoint[]>([]);
	loaded = $state(false);

	constructor(private readonly api: Api) {}

	async load(): Promise<void> {
		[this.local, this.endpoints] = await Promise.all([this.api.listModels(), this.api.listEndpoints()]);
		this.loaded = true;
	}

	/** What `chosen` names; without a choice, or when it is gone, the default, else any model on this machine. */
	answering(chosen: ModelRef | null | undefined): Answering | null {
		return this.#find(chosen) ?? this.#default();
	}

	#find(chosen: ModelRef | null | undefined): Answering | null {
		if (chosen?.kind === "local") return ofModel(this.local.find(({ id }) => id === chosen.id));
		if (chosen?.kind === "remote") return ofEndpoint(this.endpoints.find(({ id }) => id === chosen.id));
		return null;
	}

	#default(): Answering | null {
		const usable = this.local.filter((model) => !model.missing);
		const chosen = ofModel(usable.find((model) => model.default)) ?? ofEndpoint(this.endpoints.find((endpoint) => endpoint.default));
		return chosen ?? ofModel(usable[0]);
	}
}

function ofModel(model: Model | undefined): Answering | null {
	return model ? { name: model.name, host: null, endpoint: false } : null;
}

function ofEndpoint(endpoint: Endpoint | undefined): Answering | null {
	return endpoint ? { name: endpoint.model || endpoint.name, host: hostOf(endpoint.url), endpoint: true } : null;
}

/** `null` for this machine itself. */
export function hostOf(url: string): string | null {
	const host = URL.parse?.(url)?.hostname ?? url;
	return ["127.0.0.1", "localhost", "[::1]"].includes(host) ? null : host;
}

export interface Preset {
	name: string;
	url: string;
}

export const PRESETS: readonly Preset[] = [
	{ name: "llama.cpp server", url: "http://127.0.0.1:8080/v1" },
	{ name: "Ollama", url: "http://127.0.0.1:11434/v1" },
	{ name: "LM Studio", url: "http://127.0.0.1:1234/v1" },
];

/** The endpoint form: what it holds, and what a test found. */
export class EndpointForm {
	draft = $state<EndpointDraft>({ id: null, name: "", url: "", model: "", context: 8192, key: null });
	/** A key is stored; it is never shown again. */
	hasKey = $state(false);
	testing = $state(false);
	found = $state.raw<EndpointTest | null>(null);
	failure = $state.raw<ApiError | null>(null);
	/** As it is stored; `null` for a new one. */
	saved = $state.raw<Endpoint | null>(null);
	/** A tokenizer is being read. */
	choosing = $state(false);
	readonly ready = $derived(this.draft.url.trim() !== "");

	constructor(
		private readonly api: Api,
		endpoint: Endpoint | null,
	) {
		this.saved = endpoint;
		this.hasKey = endpoint?.hasKey ?? false;
		if (endpoint) {
			const { id, name, url, model, context } = endpoint;
			this.draft = { id, name, url, model, context, key: null };
		}
	}

	use(preset: Preset): void {
		this.draft.name = preset.name;
		this.draft.url = preset.url;
		this.#forget();
	}

	async test(): Promise<void> {
		this.testing = true;
		this.#forget();
		try {
			this.found = await this.api.testEndpoint(this.#named());
			this.draft.model ||= this.found.models[0] ?? "";
			if (this.found.context) this.draft.context = this.found.context;
		} catch (thrown) {
			this.failure = asApiError(thrown);
		}
		this.testing = false;
	}

	/** `null` when it was refused; the reason is in `failure`. */
	async save(): Promise<Endpoint | null> {
		this.#forget();
		try {
			return await this.api.saveEndpoint(this.#named());
		} catch (thrown) {
			this.failure = asApiError(thrown);
			return null;
		}
	}

	/** The chosen `tokenizer.json` counts at once: it belongs to the endpoint as it is stored. */
	chooseTokenizer = (): Promise<void> => this.#count((id) => this.api.shell.pickTokenizer(id));

	removeTokenizer = (): Promise<void> => this.#count((id) => this.api.removeEndpointTokenizer(id));

	async #count(change: (id: string) => Promise<Endpoint | null>): Promise<void> {
		if (!this.saved) return;
		this.choosing = true;
		this.#forget();
		try {
			this.saved = (await change(this.saved.id)) ?? this.saved;
		} catch (thrown) {
			this.failure = asApiError(thrown);
		}
		this.choosing = false;
	}

	/** What is typed into the key field; left empty, the stored key stays. */
	typeKey(key: string): void {
		this.draft.key = key === "" ? null : key;
	}

	forgetKey = (): void => {
		this.draft.key = "";
		this.hasKey = false;
	};

	#named(): EndpointDraft {
		const draft = $state.snapshot(this.draft);
		return { ...draft, name: draft.name.trim() || draft.model || draft.url };
	}

	#forget(): void {
		[this.found, this.failure] = [null, null];
	}
}
