import { t } from "../../i18n/i18n.svelte";

/** The engine's words for what keeps an entry out, as the window tells them apart. */
const RULES = {
	disabled: "disabled",
	trigger: "trigger",
	character_filter: "filter",
	tag_filter: "filter",
	delay: "delay",
	cooldown: "cooldown",
	delay_until_recursion: "recursion",
	recursion_level: "recursion",
	exclude_recursion: "recursion",
	no_keys: "noKeys",
	key_not_found: "notFound",
	secondary_keys: "secondary",
	additional_keys: "secondary",
	exclude_keys: "secondary",
	group: "group",
	probability: "probability",
	budget: "budget",
	book_budget: "budget",
} as const;

/** Why an entry is not told, in words; decorators have one word for all they do. */
export function rule(name: string): string {
	return t(`books.rule.${name in RULES ? RULES[name as keyof typeof RULES] : "decorator"}`);
}
