import Bell from "@lucide/svelte/icons/bell";
import BookOpen from "@lucide/svelte/icons/book-open";
import Brain from "@lucide/svelte/icons/brain";
import Clock from "@lucide/svelte/icons/clock";
import Drama from "@lucide/svelte/icons/drama";
import FileText from "@lucide/svelte/icons/file-text";
import Heart from "@lucide/svelte/icons/heart";
import IdCard from "@lucide/svelte/icons/id-card";
import Map from "@lucide/svelte/icons/map";
import MessageSquare from "@lucide/svelte/icons/message-square";
import Notebook from "@lucide/svelte/icons/notebook";
import Pin from "@lucide/svelte/icons/pin";
import Quote from "@lucide/svelte/icons/quote";
import ScrollText from "@lucide/svelte/icons/scroll-text";
import Wrench from "@lucide/svelte/icons/wrench";
import User from "@lucide/svelte/icons/user";
import type { PromptReport } from "../../lib/api/generated";
import { named } from "../../lib/i18n/i18n.svelte";

const ICONS: Record<string, typeof Bell> = {
	rules: ScrollText,
	section: ScrollText,
	description: IdCard,
	personality: IdCard,
	scenario: Map,
	persona: User,
	examples: Quote,
	postHistory: ScrollText,
	relationship: Heart,
	fact: Brain,
	memory: Brain,
	lastSession: Brain,
	keyframe: Notebook,
	excerpt: Quote,
	pinned: Pin,
	lore: BookOpen,
	document: FileText,
	clock: Clock,
	mode: Drama,
	note: Notebook,
	reminder: Bell,
	message: MessageSquare,
	tool: Wrench,
};

export function iconOf(kind: string): typeof Bell {
	return ICONS[kind] ?? FileText;
}

export function nameOf(kind: string): string {
	return named("kind", kind);
}

/** Whether the token counts are estimates. */
export function isEstimate(report: PromptReport): boolean {
	return !report.tokens.exact;
}
