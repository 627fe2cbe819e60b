import type { ApiError, ApiKey, ApiKeyLimits, CharacterSummary, LocalApi, LocalApiSettings } from "../api/generated";
import type { Api } from "./api";
import { attempt } from "./attempt";

/** The form of a new key, or of one that is changed. */
export interface KeyForm {
	/** `null` for a new key. */
	id: string | null;
	name: string;
	/** `false`: only the characters in `chosen`. */
	all: boolean;
	chosen: string[];
	rawModels: boolean;
	readOnly: boolean;
}

const NEW_KEY: KeyForm = { id: null, name: "", all: true, chosen: [], rawModels: false, readOnly: false };

/** The local API: its switch, its port and its keys. */
export class LocalApiState {
	info = $state.raw<LocalApi | null>(null);
	keys = $state.raw<ApiKey[]>([]);
	characters = $state.raw<CharacterSummary[]>([]);
	failure = $state.raw<ApiError | null>(null);
	/** The open form. */
	form = $state<KeyForm | null>(null);
	/** The name and the secret of the key that was just made. It is shown once. */
	made = $state.raw<{ name: string; secret: string } | null>(null);
	/** The key in the confirmation dialog. */
	revoking = $state.raw<ApiKey | null>(null);
	saving = $state(false);
	#asked: ApiKey | null = null;

	constructor(private readonly api: Api) {}

	load = (): Promise<boolean> =>
		attempt(this, async () => {
			const [info, keys, characters] = await Promise.all([this.api.localApi(), this.api.listApiKeys(), this.api.listCharacters()]);
			[this.info, this.keys, this.characters] = [info, keys, characters];
		});

	/** The address for programs. Before the server has started, the one that it will have. */
	get address(): string {
		const { info } = this;
		return info?.address ?? `http://127.0.0.1:${info?.settings.port ?? 8000}`;
	}

	/** Changes the switch, the port or both. The engine reports the server's new state with an event. */
	set = (change: Partial<LocalApiSettings>): Promise<boolean> =>
		attempt(this, async () => {
			const { info } = this;
			if (!info) return;
			const localApi = { ...info.settings, ...change };
			await this.api.updateSettings({ localApi });
			this.info = { ...info, settings: localApi };
		});

	/** Returns whether the text is a port; an invalid one is not saved. */
	setPort(text: string): boolean {
		const port = Number(text);
		if (!Number.isInteger(port) || port < 1 || port > 65_535) return false;
		if (port !== this.info?.settings.port) void this.set({ port });
		return true;
	}

	create(): void {
		this.form = { ...NEW_KEY };
	}

	edit({ id, name, limits }: ApiKey): void {
		this.form = { id, name, all: limits.characters === null, chosen: limits.characters ?? [], rawModels: limits.rawModels, readOnly: limits.readOnly };
	}

	/** Whether the form can be saved. */
	get ready(): boolean {
		const { form } = this;
		return form !== null && form.name.trim() !== "" && (form.all || form.chosen.length > 0);
	}

	async save(): Promise<void> {
		const { form } = this;
		if (!form || !this.ready || this.saving) return;
		const limits: ApiKeyLimits = { characters: form.all ? null : [...form.chosen], rawModels: form.rawModels, readOnly: form.readOnly };
		this.saving = true;
		await attempt(this, async () => {
			if (form.id === null) {
				const { key, secret } = await this.api.createApiKey(form.name, limits);
				this.made = { name: key.name, secret };
			} else await this.api.updateApiKey(form.id, form.name, limits);
			this.form = null;
			this.keys = await this.api.listApiKeys();
		});
		this.saving = false;
	}

	askToRevoke(key: ApiKey): void {
		this.revoking = key;
		this.#asked = key;
	}

	/** Revokes the key of the confirmation dialog, which has closed. */
	revoke = (): Promise<boolean> =>
		attempt(this, async () => {
			if (this.#asked) await this.api.revokeApiKey(this.#asked.id);
			this.keys = await this.api.listApiKeys();
		});

	/** Forgets the shown secret. */
	seen = (): void => void (this.made = null);

	/** Names of the characters that a key may use; a deleted one is left out. */
	names(key: ApiKey): string[] {
		return (key.limits.characters ?? []).flatMap((id) => this.characters.find((one) => one.id === id)?.name ?? []);
	}
}
