import type { ApiError, Persona, Settings, SettingsChange } from "../api/generated";
import { asApiError } from "../api/errors";
import { setLanguage } from "../i18n/i18n.svelte";
import type { Api } from "./api";
import { base64 } from "./base64";
import type { Look } from "./look.svelte";

/** The engine's settings. A change shows at once and is taken back when the engine refuses it. */
export class SettingsState {
	value = $state.raw<Settings>({});
	personas = $state.raw<Persona[]>([]);
	/** Grows whenever a setting changed somewhere, in a layer or at large. */
	news = $state(0);
	#sending: Promise<unknown> = Promise.resolve();

	constructor(
		private readonly api: Api,
		private readonly look: Look,
		private readonly failed: (error: ApiError) => void,
	) {}

	async load(): Promise<void> {
		const [settings, personas] = await Promise.all([this.api.getSettings(), this.api.listPersonas()]);
		this.show(settings);
		this.personas = personas;
	}

	show(settings: Settings): void {
		this.value = settings;
		if (settings.theme && settings.theme !== this.look.theme) this.look.set({ theme: settings.theme });
		setLanguage(settings.language ?? "");
	}

	set(change: SettingsChange): Promise<unknown> {
		const before = this.value;
		const { theme = before.theme, language = before.language, ...others } = change;
		this.show({ ...before, ...others, theme: theme ?? undefined, language: language ?? undefined });
		// One after the other: of two quick changes the second must win.
		this.#sending = this.#sending.then(() => this.api.updateSettings(change)).catch((thrown: unknown) => {
			this.show(before);
			this.failed(asApiError(thrown));
		});
		return this.#sending;
	}

	/** With a picture this replaces what the persona had, with `null` there is none any more; without either it stays. */
	async savePersona(persona: Persona, picture?: File | null): Promise<Persona | null> {
		try {
			const saved = await this.api.savePersona(persona);
			if (picture !== undefined) await this.api.setPersonaPicture(saved.id, picture && (await base64(picture)));
			this.personas = await this.api.listPersonas();
			return saved;
		} catch (thrown) {
			this.failed(asApiError(thrown));
			return null;
		}
	}

	async deletePersona(id: string): Promise<void> {
		try {
			await this.api.deletePersona(id);
			this.personas = this.personas.filter((persona) => persona.id !== id);
		} catch (thrown) {
			this.failed(asApiError(thrown));
		}
	}
}
