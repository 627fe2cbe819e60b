import type { ToolUse } from "../api/generated";
import { t } from "./i18n.svelte";

/** The app's own tools. */
const OWN = ["roll_dice", "get_time", "search_memory", "search_chat", "look_up_lore", "read_document", "draw_from_table", "set_mood", "change_scene", "show_more"] as const;
type Own = (typeof OWN)[number];

const isOwn = (name: string): name is Own => OWN.some((own) => own === name);

/** The name of a tool on screens. */
export const toolName = (name: string): string => (isOwn(name) ? t(`tool.${name}`) : name);

/** One line about a call: what was used, and the beginning of its result. */
export function toolLine({ name, result, error }: ToolUse): string {
	const first = result.trim().split("\n")[0] ?? "";
	if (error) return t("tool.failed", { name: toolName(name) });
	return first === "" ? toolName(name) : t("tool.used", { name: toolName(name), result: first });
}
