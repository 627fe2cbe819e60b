import type { LayeredSetting, SettingInactive, SettingKind, SettingLayer, SettingSilencer, SettingValue } from "../api/generated";
import { number } from "./format";
import type { SettingGroup } from "../state/layeredSettings.svelte";
import { names } from "../state/prompts/order";
import { type Key, shipped, t } from "./i18n.svelte";

/** Screen text for a setting's key, one of its values, or another name from the engine. */
const words = (name: string, count = 0) => t(`setting.${name}` as Key, { count });

export const label = ({ key }: LayeredSetting): string => words(key);
export const about = ({ key }: LayeredSetting): string => words(`${key}.about`);
export const origin = (layer: SettingLayer): string => words(`origin.${layer}`);
export const group = (name: SettingGroup): string => words(`group.${name}`);

/** Why the setting has no effect together with other values; empty if it has one. */
export function silent({ silencers }: LayeredSetting, value: (key: string) => SettingValue | undefined): string {
	const holds = ({ key, atZero }: SettingSilencer) => typeof value(key) === "number" && (value(key) === 0) === atZero;
	const silencer = silencers.find(holds);
	return silencer ? t(silencer.atZero ? "setting.silentAtZero" : "setting.silentWhileOn", { name: words(silencer.key) }) : "";
}

/** Why the setting has no effect with the model in use; empty if it has one. */
export const inactive = ({ inactive: why }: LayeredSetting): string => (why ? words(`inactive.${why satisfies SettingInactive}`) : "");

/** Screen text of one of the words that a setting can have. */
export const optionLabel = ({ key }: LayeredSetting, word: string): string => words(`${key}.${word}`);

/** The unit of `value`. A word instead of a number takes the plural. */
export function unit(setting: LayeredSetting, value: SettingValue): string {
	return setting.unit === "none" ? "" : words(`unit.${setting.unit}`, typeof value === "number" ? value : 0);
}

/** Screen text of the word that replaces a number or a name. */
export function standIn(kind: SettingKind): string {
	return (kind.kind === "whole" || kind.kind === "name") && kind.word ? words(`word.${kind.word}`) : "";
}

/** Formats a value for the screen. */
export function shown(setting: LayeredSetting, value: SettingValue): string {
	const { kind } = setting;
	if (typeof value === "number") return [number(value, 2), unit(setting, value)].join(" ").trim();
	if (typeof value === "boolean") return value ? t("setting.on") : t("setting.word.off");
	if (value === "") return t("setting.nothing");
	if (kind.kind === "choice") return optionLabel(setting, value);
	if (kind.kind === "order") return names(value).map((name) => optionLabel(setting, name)).join(", ");
	if ((kind.kind === "whole" || kind.kind === "name") && kind.word === value) return standIn(kind);
	if (kind.kind !== "name") return value;
	const title = kind.choices.find(({ name }) => name === value)?.title ?? value;
	return setting.key === "mode" ? shipped("modeName", value, title) : shipped("templateName", value, title);
}

/** Few choices are pills that fit in one line. */
export const isFew = ({ kind }: LayeredSetting): boolean => kind.kind === "choice" && kind.words.length <= 3;

/** Whether one element is the control. Sliders, pills and lists of rows are several, which a label cannot name. */
export const hasOneControl = (setting: LayeredSetting): boolean => setting.kind.kind !== "number" && setting.kind.kind !== "order" && !isFew(setting);

/** The options of a choice or a name. */
export function options(setting: LayeredSetting): { value: string; label: string }[] {
	const { kind } = setting;
	if (kind.kind === "choice") return kind.words.map((value) => ({ value, label: shown(setting, value) }));
	if (kind.kind !== "name") return [];
	const known = [kind.word, ...kind.choices.map(({ name }) => name).filter((name) => name !== kind.word)];
	// The selected option may have been deleted, but it is still the stored value.
	const all = typeof setting.value === "string" && !known.includes(setting.value) ? [...known, setting.value] : known;
	return all.map((value) => ({ value, label: shown(setting, value) }));
}
