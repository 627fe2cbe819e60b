import type { ApiError, LayeredSetting, LayeredSettings, SettingLayer, SettingOwner, SettingValue } from "../../src/lib/api/generated";
import list from "./settings.json";

const ORDER: SettingLayer[] = ["global", "model", "character", "chat", "environment"];

/** The settings of the real engine, with one map per scope. All chats share the chat scope. */
export class MockLayers {
	readonly #layers = new Map<SettingLayer, Map<string, SettingValue>>([["environment", new Map([["context_limit", 8192]])]]);

	constructor() {
		this.#layer("global").set("temperature", 0.7);
		this.#layer("character").set("mode", "creative");
		this.#layer("chat").set("author_note", "It has begun to rain. The lamps hiss.");
	}

	of(owner: SettingOwner): LayeredSettings {
		const below = ORDER.slice(0, ORDER.indexOf(owner.scope) + 1);
		const settings = (list as LayeredSetting[]).map((setting) => this.#resolved(setting, [...below, "environment"]));
		const model = owner.scope === "chat" ? ({ kind: "local", id: "m1" } as const) : null;
		return { settings, contradictions: [], model, character: null };
	}

	set(owner: SettingOwner, key: string, value: SettingValue | null): void {
		if (key === "temperature" && typeof value === "number" && value > 2) {
			throw { kind: "badInput", message: `temperature is not valid: "${value}" is not a number from 0 to 2.`, hint: "Set it to a number from 0 to 2." } satisfies ApiError;
		}
		if (value === null) this.#layer(owner.scope).delete(key);
		else this.#layer(owner.scope).set(key, value);
	}

	#layer(layer: SettingLayer): Map<string, SettingValue> {
		const known = this.#layers.get(layer) ?? new Map<string, SettingValue>();
		this.#layers.set(layer, known);
		return known;
	}

	#resolved(setting: LayeredSetting, counted: SettingLayer[]): LayeredSetting {
		const layers = counted.flatMap((layer) => {
			const value = this.#layer(layer).get(setting.key);
			return value === undefined ? [] : [{ layer, value, problem: null }];
		});
		const top = layers.at(-1);
		return { ...setting, layers, value: top?.value ?? setting.default, origin: top?.layer ?? "builtIn" };
	}
}
