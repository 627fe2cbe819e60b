import type { BlockReason, PromptBlock, PromptReport, Recollected, ReasonValue, SourceLabel } from "../api/generated";
import { number } from "./format";
import { fromEngine, type Key, t } from "./i18n.svelte";

/** Values with two decimals. */
const SCORES = new Set(["score", "similarity"]);

type Explained = Pick<PromptBlock | Recollected, "reason" | "reasons" | "kept" | "droppedReason" | "droppedCode">;

/** Why a block is a candidate. Prompts of older versions have the engine's sentence only. */
export function whyCandidate({ reason, reasons = [] }: Pick<Explained, "reason" | "reasons">): string {
	return reasons.length > 0 ? reasons.map(translated).join("; ") : reason;
}

/** Why a block is not in the prompt; empty if it is. */
export function whyLeftOut({ kept, droppedReason, droppedCode, ...block }: Explained): string {
	if (kept) return "";
	if (droppedCode) return fromEngine("dropped", droppedCode, droppedReason ?? droppedCode);
	return droppedReason ?? whyCandidate(block);
}

/** Why an epoch begins with the prompt; empty if none does. */
export function whyNewEpoch({ newEpoch, newEpochCode }: Pick<PromptReport, "newEpoch" | "newEpochCode">): string {
	return newEpochCode ? fromEngine("epochReason", newEpochCode, newEpoch ?? newEpochCode) : (newEpoch ?? "");
}

/** The source of a block. Prompts of older versions have the engine's words only. */
export function sourceOf({ source, label }: { source: string; label?: SourceLabel | null }): string {
	if (!label) return source;
	const { code, ...values } = label;
	const texts = Object.entries(values as Record<string, ReasonValue>).map(([name, value]) => [name, code === "setting" ? settingName(String(value)) : shown(name, value)]);
	return fromEngine("source", code, source, { ...Object.fromEntries(texts), ...counted(values) });
}

function translated({ code, ...values }: BlockReason): string {
	const texts = Object.entries(values as Record<string, ReasonValue>).map(([name, value]) => [name, shown(name, value)]);
	return fromEngine("reason", code, code, { ...Object.fromEntries(texts), ...counted(values) });
}

/** The screen text of a setting. The tools of a prompt have a key, but no setting of that name. */
function settingName(key: string): string {
	const name = t(`setting.${key}` as Key);
	return name === `setting.${key}` ? key : name;
}

function shown(name: string, value: ReasonValue): string {
	if (typeof value === "number") return number(value, SCORES.has(name) ? 2 : 0);
	if (typeof value === "string") return value;
	return name === "features" ? value.map((feature) => fromEngine("importanceOf", feature, feature)).join(", ") : value.map((one) => `“${one}”`).join(", ");
}

/** The number that chooses the plural form. */
function counted({ count, ago, names }: Record<string, ReasonValue>): { count?: number } {
	const size = Array.isArray(names) ? names.length : (count ?? ago);
	return typeof size === "number" ? { count: size } : {};
}
