import type { BlockReason, PromptBlock, PromptReport, Recollected, ReasonValue } from "../api/generated";
import { number } from "./format";
import { fromEngine } from "./i18n.svelte";

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

function translated({ code, ...values }: BlockReason): string {
	const texts = Object.entries(values as Record<string, ReasonValue>).map(([name, value]) => [name, shown(name, value)]);
	return fromEngine("reason", code, code, { ...Object.fromEntries(texts), ...counted(values) });
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
