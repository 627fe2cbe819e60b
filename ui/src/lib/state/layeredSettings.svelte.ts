import type { ApiError, LayeredSetting, LayeredSettings, SettingLayer, SettingOwner, SettingValue } from "../api/generated";
import type { Api } from "./api";
import { StoredState } from "./storedState.svelte";

/** A group on the screen. The engine counts what concerns pictures and emotions as settings of the prompt or of the display. */
export type SettingGroup = LayeredSetting["group"] | "pictures";

/** Groups of settings, the most relevant for writers first. */
export const GROUPS = ["prompt", "story", "sampler", "context", "pictures", "chat", "tools", "loading", "privacy"] as const satisfies readonly SettingGroup[];

const PICTURES: readonly string[] = ["emotion_tags", "emotion_labels", "emotion_guess", "sprite_place", "picture_tags", "vision", "background"];

/** The group in which the screen shows a setting. */
export const groupOf = ({ key, group }: Pick<LayeredSetting, "key" | "group">): SettingGroup => (PICTURES.includes(key) ? "pictures" : group);

/** Settings of prompts and replies for one owner, such as a chat or a character. */
export class LayeredSettingsState extends StoredState<LayeredSettings> {
	constructor(
		protected readonly api: Api,
		readonly owner: SettingOwner,
		failed: (error: ApiError) => void,
	) {
		super(() => api.layeredSettings(owner), failed);
	}

	/** Owner of the drafts of texts. */
	get draftOwner(): string {
		return "id" in this.owner ? this.owner.id : "model" in this.owner ? JSON.stringify(this.owner.model) : "";
	}

	/** Sets a value. `null` removes it, so that the layer below applies again. */
	set(key: string, value: SettingValue | null): Promise<unknown> {
		return this.send(() => this.api.setSetting(this.owner, key, value));
	}

	/** The value in use. */
	value(key: string): SettingValue | undefined {
		return this.all?.settings.find((setting) => setting.key === key)?.value;
	}

	/** Whether the value in use was set for this owner, so that it can be reset. */
	isOwn(setting: LayeredSetting): boolean {
		return setting.layers.some(({ layer }) => layer === this.owner.scope);
	}

	/** Whether the environment overrides the setting, so that a value set here has no effect. */
	isFixed(setting: LayeredSetting): boolean {
		return setting.origin === "environment";
	}

	/** Settings of this owner, in the order of the engine. */
	shown(group: SettingGroup): LayeredSetting[] {
		const scope: SettingLayer = this.owner.scope;
		return this.all?.settings.filter((setting) => groupOf(setting) === group && setting.scopes.includes(scope)) ?? [];
	}
}
