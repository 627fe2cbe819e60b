import { asApiError } from "../api/errors";
import type { ApiError, LayeredSetting, LayeredSettings, SettingLayer, SettingOwner, SettingValue } from "../api/generated";
import type { Api } from "./api";

/** In the order in which they matter to somebody who writes. */
export const GROUPS = ["prompt", "story", "sampler", "context", "chat"] as const satisfies readonly LayeredSetting["group"][];

/** Settings of prompts and replies as they are for one owner. What is refused is told and changes nothing. */
export class Layered {
	all = $state.raw<LayeredSettings | null>(null);
	failure = $state.raw<ApiError | null>(null);
	#sending: Promise<unknown> = Promise.resolve();
	#asked = 0;

	constructor(
		private readonly api: Api,
		readonly owner: SettingOwner,
		private readonly failed: (error: ApiError) => void,
	) {}

	load = async (): Promise<void> => {
		const asked = ++this.#asked;
		try {
			const all = await this.api.layeredSettings(this.owner);
			if (asked === this.#asked) [this.all, this.failure] = [all, null];
		} catch (thrown) {
			if (asked === this.#asked) this.failure = asApiError(thrown);
		}
	};

	/** Loads now, and for an effect again with whatever it is given. */
	follow(..._news: unknown[]): void {
		void this.load();
	}

	/** `null` lets the layer below decide again. */
	set(key: string, value: SettingValue | null): Promise<unknown> {
		// One after the other: of two quick changes the second must win.
		this.#sending = this.#sending
			.then(() => this.api.setSetting(this.owner, key, value))
			.then((all) => {
				this.#asked++;
				this.all = all;
			})
			.catch((thrown: unknown) => {
				this.failed(asApiError(thrown));
				// What the control shows is not what is stored.
				return this.load();
			});
		return this.#sending;
	}

	/** The value in use. */
	value(key: string): SettingValue | undefined {
		return this.all?.settings.find((setting) => setting.key === key)?.value;
	}

	/** Whether the value in use was set for this very owner, so that it can be given back. */
	isOwn(setting: LayeredSetting): boolean {
		return setting.layers.some(({ layer }) => layer === this.owner.scope);
	}

	/** Set here, it would not count: the environment has the last word. */
	isFixed(setting: LayeredSetting): boolean {
		return setting.origin === "environment";
	}

	/** Settings of this owner, in the order of the engine. */
	shown(group: LayeredSetting["group"]): LayeredSetting[] {
		const scope: SettingLayer = this.owner.scope;
		return this.all?.settings.filter((setting) => setting.group === group && setting.scopes.includes(scope)) ?? [];
	}
}
