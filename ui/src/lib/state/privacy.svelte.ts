import { asApiError } from "../api/errors";
import type { ApiError, PrivacySpace, SettingValue } from "../api/generated";
import type { Api } from "./api";
import { LayeredSettingsState } from "./layeredSettings.svelte";

const KEEP_PROMPTS = "keep_prompts";

/** A choice that deletes stored prompts: all of them, or those older than 30 days. */
export type PromptDeletion = "off" | "30-days";

/** The privacy page: its settings, the space that prompts and log take, and the question before prompts are deleted. */
export class PrivacyState extends LayeredSettingsState {
	space = $state.raw<PrivacySpace | null>(null);
	spaceFailure = $state.raw<ApiError | null>(null);
	/** The choice that waits for the user's confirmation. */
	asked = $state<PromptDeletion | null>(null);
	/** The engine is applying a value, which can take seconds. */
	working = $state(false);
	/** The choice that was asked about last. A dialog closes before it confirms. */
	#chosen: PromptDeletion | null = null;
	#measured = 0;

	constructor(api: Api, failed: (error: ApiError) => void) {
		super(api, { scope: "global" }, failed);
	}

	/** Loads the settings and the space. A change of a setting can free space. */
	override follow(...news: unknown[]): void {
		super.follow(...news);
		void this.measure();
	}

	/** Asks before a choice that deletes stored prompts. Applies every other value at once. */
	override set(key: string, value: SettingValue | null): Promise<unknown> {
		const before = this.value(key);
		// With "off", no prompts are left to delete.
		const canDelete = key === KEEP_PROMPTS && before !== "off" && before !== value;
		if (canDelete && (value === "off" || value === "30-days")) {
			this.asked = this.#chosen = value;
			return Promise.resolve();
		}
		return this.#apply(key, value);
	}

	cancel = (): void => void (this.asked = null);

	async confirm(): Promise<void> {
		const chosen = this.#chosen;
		this.#chosen = null;
		this.cancel();
		if (chosen) await this.#apply(KEEP_PROMPTS, chosen);
	}

	/** Reads the space. Only the latest answer is used. */
	async measure(): Promise<void> {
		const measured = ++this.#measured;
		try {
			const space = await this.api.privacySpace();
			if (measured === this.#measured) [this.space, this.spaceFailure] = [space, null];
		} catch (thrown) {
			if (measured === this.#measured) this.spaceFailure = asApiError(thrown);
		}
	}

	async #apply(key: string, value: SettingValue | null): Promise<void> {
		this.working = true;
		await super.set(key, value);
		this.working = false;
		await this.measure();
	}
}
