import type { ApiError, Persona, Settings, SettingsChange } from "../api/generated";
import { asApiError } from "../api/errors";
import { setLanguage } from "../i18n/i18n.svelte";
import type { Api } from "./api";
import { base64 } from "./base64";
import type { Look } from "./look.svelte";

/** The engine's settings. A change shows at once and is reverted if the engine rejects it. */
export class SettingsState {
	value = $state.raw<Settings>({});
	personas = $state.raw<Persona[]>([]);
	/** Increases after each change of a setting in any layer. */
	version = $state(0);
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
		this.show(changed(before, change));
		// Sends changes one after the other, so that the later of two quick changes wins.
		this.#sending = this.#sending.then(() => this.api.updateSettings(change)).catch((thrown: unknown) => {
			this.show(before);
			this.failed(asApiError(thrown));
		});
		return this.#sending;
	}

	/** Saves a persona. A `picture` replaces the old one, `null` removes it, `undefined` keeps it. */
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

/** The settings after a change. An absent field or `null` stands for no change, except for those that may be empty. */
function changed(before: Settings, change: SettingsChange): Settings {
	const { defaultModel = before.defaultModel, defaultPersona = before.defaultPersona, ...others } = change;
	const present = Object.entries(others).filter(([, value]) => value !== undefined && value !== null);
	return { ...before, ...Object.fromEntries(present), defaultModel, defaultPersona };
}
