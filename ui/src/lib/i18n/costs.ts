import type { Figures } from "../api/generated";
import { number, percent, seconds } from "./format";
import { t } from "./i18n.svelte";

/** What a call has cost, in a few words: its tokens, how many were known already, and the wait for the first word. */
export function costs({ prompt, reused, firstTextMs }: Figures): string[] {
	return [
		prompt === null ? "" : t("figures.tokens", { count: prompt, shown: number(prompt) }),
		prompt && reused !== null ? t("figures.reused", { percent: percent(reused / prompt) }) : "",
		firstTextMs === null ? "" : seconds(firstTextMs),
	].filter(Boolean);
}
