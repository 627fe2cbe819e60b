import type { ToolUse } from "../api/generated";
import { t } from "./i18n.svelte";

/** The app's own tools. */
const OWN = ["roll_dice", "get_time", "search_memory", "search_chat", "look_up_lore", "read_document", "draw_from_table", "set_mood", "change_scene", "show_more"] as const;
type Own = (typeof OWN)[number];

const isOwn = (name: string): name is Own => OWN.some((own) => own === name);

/** The name of a tool on screens. `server__tool` is a tool of a server. */
export function toolName(name: string): string {
	if (isOwn(name)) return t(`tool.${name}`);
	const at = name.indexOf("__");
	return at > 0 ? `${name.slice(at + 2)} (${name.slice(0, at)})` : name;
}

/** One line about a call: what was used, and the beginning of its result. */
export function toolLine({ name, result, error }: ToolUse): string {
	const first = result.trim().split("\n")[0] ?? "";
	if (error) return t("tool.failed", { name: toolName(name) });
	return first === "" ? toolName(name) : t("tool.used", { name: toolName(name), result: first });
}
