import type { ForgetCounts, ForgetRemainder } from "../api/generated";
import { number } from "../i18n/format";
import { t } from "../i18n/i18n.svelte";

const KINDS = ["characters", "personas", "chats", "messages", "versions", "earlierTexts", "memories", "summaries", "vectors", "prompts", "documents", "drafts", "cardVersions", "files"] as const satisfies readonly (keyof ForgetCounts)[];

/** One line for each kind of which there is something. */
export function countLines(counts: ForgetCounts): string[] {
	return KINDS.filter((kind) => counts[kind] > 0).map((kind) => t(`forget.count.${kind}`, { count: counts[kind], shown: number(counts[kind]) }));
}

/** One thing that was not removed, and why. */
export const leftLine = (left: ForgetRemainder): string => t(`forget.left.${left.kind}`, { count: left.count });
