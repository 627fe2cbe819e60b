import type { ApiError, LayeredSetting, LayeredSettings, SettingLayer, SettingOwner, SettingValue } from "../api/generated";
import type { Api } from "./api";
import { Kept } from "./kept.svelte";

/** In the order in which they matter to somebody who writes. */
export const GROUPS = ["prompt", "story", "sampler", "context", "chat"] as const satisfies readonly LayeredSetting["group"][];

/** Settings of prompts and replies as they are for one owner. */
export class Layered extends Kept<LayeredSettings> {
	constructor(
		private readonly api: Api,
		readonly owner: SettingOwner,
		failed: (error: ApiError) => void,
	) {
		super(() => api.layeredSettings(owner), failed);
	}

	/** `null` lets the layer below decide again. */
	set(key: string, value: SettingValue | null): Promise<unknown> {
		return this.send(() => this.api.setSetting(this.owner, key, value));
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
