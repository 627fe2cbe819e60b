import { asApiError } from "../api/errors";
import type { ApiError, Endpoint, EndpointDraft, EndpointService, EndpointTest, HeaderDraft, OfferedModel } from "../api/generated";
import type { Api } from "./api";
import { hasValue, namedRows, type SecretRow } from "./secretRows";

/** Id of the choice "no service", which allows any address. */
export const CUSTOM = "custom";

/** The contents of the form that a draft keeps. */
interface Drafted extends Pick<EndpointDraft, "name" | "dialect" | "url" | "model" | "context"> {
	service: string;
	adding: string;
	/** Names only. */
	headers: string[];
	/** Names of models that the user added. */
	added: string[];
}

/** The typed secrets of a closed form. They are kept in memory only, for Undo. */
export interface EndpointSecrets {
	key: string | null;
	headers: SecretRow[];
}

/** The endpoint form: its contents, and the result of a test. */
export class EndpointForm {
	draft = $state<EndpointDraft>({ id: null, name: "", dialect: null, url: "", model: "", context: 8192, key: null, headers: null, models: null });
	headers = $state<SecretRow[]>([]);
	/** The models that the endpoint last listed, and those that the user added. */
	models = $state.raw<OfferedModel[]>([]);
	/** The name in the field for another model. */
	adding = $state("");
	services = $state.raw<EndpointService[]>([]);
	/** The chosen service, or `custom`; empty until one is chosen. */
	service = $state("");
	/** A key is stored. It is never shown again. */
	hasKey = $state(false);
	testing = $state(false);
	found = $state.raw<EndpointTest | null>(null);
	failure = $state.raw<ApiError | null>(null);
	/** The stored endpoint; `null` for a new one. */
	saved = $state.raw<Endpoint | null>(null);
	/** A tokenizer is being read. */
	choosing = $state(false);
	readonly ready = $derived(this.draft.url.trim() !== "");
	readonly known = $derived(this.services.find(({ id }) => id === this.service) ?? null);
	readonly typed = $derived(this.models.filter(({ typed }) => typed));
	readonly #secrets: EndpointSecrets | null;

	/** `secrets` come from a closed form of the same endpoint. */
	constructor(
		private readonly api: Api,
		endpoint: Endpoint | null,
		secrets: EndpointSecrets | null = null,
	) {
		this.#secrets = secrets;
		this.saved = endpoint;
		this.hasKey = endpoint?.hasKey ?? false;
		if (endpoint) {
			const { id, name, dialect, url, model, context } = endpoint;
			this.draft = { id, name, dialect, url, model, context, key: null, headers: null, models: null };
			this.headers = namedRows(endpoint.headers, secrets?.headers ?? [], endpoint.headers);
			this.models = endpoint.models.map(({ name: model, context: size, typed }) => ({ name: model, context: size, typed }));
		}
		if (secrets?.key === "") this.forgetKey();
		else this.draft.key = secrets?.key ?? null;
	}

	/** The contents as the text of a draft, without the key and the values of headers. */
	get written(): string {
		const { name, dialect, url, model, context } = this.draft;
		const drafted: Drafted = { name, dialect, url, model, context, service: this.service, adding: this.adding, headers: this.headers.map((row) => row.name), added: this.typed.map((one) => one.name) };
		return JSON.stringify(drafted);
	}

	/** Shows the text of a draft. Typed secrets stay. */
	show = (draft: string): void => {
		const { service, adding, headers, added, ...fields } = JSON.parse(draft) as Drafted;
		Object.assign(this.draft, fields);
		[this.service, this.adding] = [service, adding];
		this.headers = namedRows(headers, [...this.headers, ...(this.#secrets?.headers ?? [])], this.saved?.headers ?? []);
		const known = this.models;
		this.models = [...known.filter(({ typed }) => !typed), ...added.map((name) => known.find((one) => one.typed && one.name === name) ?? { name, context: null, typed: true })];
	};

	get secrets(): EndpointSecrets {
		return { key: this.draft.key ?? null, headers: $state.snapshot(this.headers) };
	}

	/** A key or the value of a header was typed and is not saved. */
	get hasSecrets(): boolean {
		return Boolean(this.draft.key) || hasValue(this.headers);
	}

	async load(): Promise<void> {
		try {
			this.services = await this.api.endpointServices();
		} catch (thrown) {
			this.failure = asApiError(thrown);
		}
	}

	/** Fills in the address and name of a service, but keeps a name that the user typed. */
	use(service: EndpointService | null): void {
		const named = this.services.some(({ name }) => name === this.draft.name);
		if (this.draft.name.trim() === "" || named) this.draft.name = service?.name ?? "";
		this.draft.url = service?.url ?? "";
		this.draft.dialect = service?.dialect ?? null;
		this.service = service?.id ?? CUSTOM;
		this.draft.model = "";
		this.models = this.typed;
		this.#forget();
	}

	async test(): Promise<void> {
		this.testing = true;
		this.#forget();
		try {
			this.found = await this.api.testEndpoint(this.#named());
			if (this.found.models.length > 0) this.models = [...this.found.models, ...this.typed.filter(({ name }) => !this.found?.models.some((one) => one.name === name))];
			this.draft.model ||= this.found.models[0]?.name ?? "";
			const context = this.found.context ?? this.models.find(({ name }) => name === this.draft.model)?.context;
			if (context) this.draft.context = context;
		} catch (thrown) {
			this.failure = asApiError(thrown);
		}
		this.testing = false;
	}

	/** Returns `null` if saving failed. `failure` then has the reason. */
	async save(): Promise<Endpoint | null> {
		this.#forget();
		try {
			return await this.api.saveEndpoint(this.#named());
		} catch (thrown) {
			this.failure = asApiError(thrown);
			return null;
		}
	}

	/** Adds the named model, which the server does not list. */
	addModel(): void {
		const model = this.adding.trim();
		this.adding = "";
		if (model === "" || this.models.some((one) => one.name === model)) return;
		this.models = [...this.models, { name: model, context: null, typed: true }];
		this.draft.model ||= model;
	}

	removeModel(name: string): void {
		this.models = this.models.filter((one) => one.name !== name);
		if (this.draft.model === name) this.draft.model = this.models[0]?.name ?? "";
	}

	addHeader = (): void => void this.headers.push({ name: "", value: "", stored: false });

	removeHeader(index: number): void {
		this.headers.splice(index, 1);
	}

	/** Applies the chosen `tokenizer.json` at once, because it belongs to the stored endpoint. */
	chooseTokenizer = (): Promise<void> => this.#count((id) => this.api.shell.pickTokenizer(id));

	removeTokenizer = (): Promise<void> => this.#count((id) => this.api.removeEndpointTokenizer(id));

	async #count(change: (id: string) => Promise<Endpoint | null>): Promise<void> {
		if (!this.saved) return;
		this.choosing = true;
		this.failure = null;
		try {
			this.saved = (await change(this.saved.id)) ?? this.saved;
		} catch (thrown) {
			this.failure = asApiError(thrown);
		}
		this.choosing = false;
	}

	/** The content of the key field. If it is empty, the stored key stays. */
	typeKey(key: string): void {
		this.draft.key = key === "" ? null : key;
	}

	forgetKey = (): void => {
		this.draft.key = "";
		this.hasKey = false;
	};

	#named(): EndpointDraft {
		const draft = $state.snapshot(this.draft);
		const headers: HeaderDraft[] = $state
			.snapshot(this.headers)
			.filter(({ name, value }) => name.trim() !== "" || value !== "")
			.map(({ name, value, stored }) => ({ name, value: stored && value === "" ? null : value }));
		return { ...draft, name: draft.name.trim() || draft.model || draft.url, headers, models: this.models };
	}

	#forget(): void {
		[this.found, this.failure] = [null, null];
	}
}
