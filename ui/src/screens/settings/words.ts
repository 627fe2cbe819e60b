import type { LayeredSetting, SettingKind, SettingLayer, SettingSilencer, SettingValue } from "../../lib/api/generated";
import { number } from "../../lib/i18n/format";
import { type Key, t } from "../../lib/i18n/i18n.svelte";

/** Words for a setting that the engine named: its label, or one of its values. */
const words = (name: string, count = 0) => t(`setting.${name}` as Key, { count });

export const label = ({ key }: LayeredSetting): string => words(key);
export const about = ({ key }: LayeredSetting): string => words(`${key}.about`);
export const origin = (layer: SettingLayer): string => words(`origin.${layer}`);
export const group = (name: LayeredSetting["group"]): string => words(`group.${name}`);

/** Why the setting does nothing beside the other values; empty where it works. */
export function silent({ silencers }: LayeredSetting, value: (key: string) => SettingValue | undefined): string {
	const holds = ({ key, atZero }: SettingSilencer) => typeof value(key) === "number" && (value(key) === 0) === atZero;
	const silencer = silencers.find(holds);
	return silencer ? t(silencer.atZero ? "setting.silentAtZero" : "setting.silentWhileOn", { name: words(silencer.key) }) : "";
}

/** What `value` counts; a word in its place counts many. */
export function unit(setting: LayeredSetting, value: SettingValue): string {
	return setting.unit === "none" ? "" : words(`unit.${setting.unit}`, typeof value === "number" ? value : 0);
}

/** The word that may stand in place of a number or a name. */
export function standIn(kind: SettingKind): string {
	return (kind.kind === "whole" || kind.kind === "name") && kind.word ? words(`word.${kind.word}`) : "";
}

/** A value as people read it. */
export function shown(setting: LayeredSetting, value: SettingValue): string {
	const { kind } = setting;
	if (typeof value === "number") return [number(value, 2), unit(setting, value)].join(" ").trim();
	if (typeof value === "boolean") return value ? t("setting.on") : t("setting.word.off");
	if (value === "") return t("setting.nothing");
	if (kind.kind === "choice") return words(`${setting.key}.${value}`);
	if ((kind.kind === "whole" || kind.kind === "name") && kind.word === value) return standIn(kind);
	return kind.kind === "name" ? (kind.choices.find(({ name }) => name === value)?.title ?? value) : value;
}

/** What a choice or a name can be, in words. */
export function options(setting: LayeredSetting): { value: string; label: string }[] {
	const { kind } = setting;
	if (kind.kind === "choice") return kind.words.map((value) => ({ value, label: shown(setting, value) }));
	if (kind.kind !== "name") return [];
	const known = [kind.word, ...kind.choices.map(({ name }) => name).filter((name) => name !== kind.word)];
	// What was chosen once may be gone; it is still what is set.
	const all = typeof setting.value === "string" && !known.includes(setting.value) ? [...known, setting.value] : known;
	return all.map((value) => ({ value, label: shown(setting, value) }));
}
