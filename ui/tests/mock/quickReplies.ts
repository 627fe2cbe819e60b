import type { QuickReplyForm, QuickReplyRun, QuickReplyScope, QuickReplySet, QuickReplySetSummary } from "../../src/lib/api/generated";
import type { MockEngine } from "./engine";

const SET: QuickReplySet = {
	id: "tavern",
	name: "Tavern",
	replies: [
		{ index: 0, label: "Look around", hint: "I look around.", unsupported: null },
		{ index: 1, label: "Study mode", hint: "/mode study", unsupported: null },
		{ index: 2, label: "Toss a coin", hint: "/setvar key=coin {{random:heads,tails}}", unsupported: { line: 1, text: "/setvar key=coin {{random:heads,tails}}" } },
		{ index: 3, label: "Ask about", hint: "Tell me about ", unsupported: null },
	],
};

/** Hostile labels: long, from right to left, with markup, and very many. */
const HOSTILE: QuickReplySet = {
	id: "hostile",
	name: "‮".concat("W".repeat(200)),
	replies: Array.from({ length: 1_000 }, (_, index) => ({ index, label: ["W".repeat(80), "שלום עולם", "<b>bold</b>\nline", "🙂".repeat(40), `Reply ${index}`][index % 5] ?? "", hint: "x".repeat(300), unsupported: null })),
};

/** Sets of quick replies. No chat shows one until a test or a scene binds it. */
export class MockQuickReplies {
	sets: QuickReplySet[] = [SET];
	readonly #bound = new Map<string, Set<QuickReplyScope>>();
	readonly #allowed = new Set<string>();

	constructor(private readonly engine: MockEngine) {}

	/** Shows the set in every chat. */
	show(set: "tavern" | "hostile"): void {
		if (set === "hostile") this.sets = [SET, HOSTILE];
		this.#scopes(set).add("everywhere");
	}

	#scopes(set: string): Set<QuickReplyScope> {
		const known = this.#bound.get(set) ?? new Set<QuickReplyScope>();
		this.#bound.set(set, known);
		return known;
	}

	op_quick_replies = (): QuickReplySet[] => this.sets.filter(({ id }) => this.#scopes(id).size > 0);

	op_quick_reply_sets = (): QuickReplySetSummary[] =>
		this.sets.map(({ id, name, replies }) => {
			const has = (scope: QuickReplyScope) => this.#scopes(id).has(scope);
			const unsupported = replies.filter((reply) => reply.unsupported !== null).length;
			return { id, name, count: replies.length, unsupported, automatic: 1, allowed: this.#allowed.has(id), everywhere: has("everywhere"), withCharacter: has("character"), inChat: has("chat") };
		});

	op_bind_quick_replies = ({ set, scope, bound }: { set: string; scope: QuickReplyScope; bound: boolean }): QuickReplySetSummary[] => {
		if (bound) this.#scopes(set).add(scope);
		else this.#scopes(set).delete(scope);
		return this.op_quick_reply_sets();
	};

	op_allow_quick_replies = ({ set, allowed }: { set: string; allowed: boolean }): void => {
		if (allowed) this.#allowed.add(set);
		else this.#allowed.delete(set);
	};

	op_quick_reply_form = ({ set }: { set: string }): QuickReplyForm => {
		const { name, replies } = this.sets.find(({ id }) => id === set) ?? SET;
		return { id: set, name, replies: replies.map(({ index, label, hint }) => ({ from: index, label, title: "", message: hint, hidden: false })) };
	};

	op_save_quick_replies = ({ form }: { form: QuickReplyForm }): string => {
		const id = form.id ?? form.name;
		const replies = form.replies.map(({ label, message }, index) => ({ index, label, hint: message, unsupported: null }));
		this.sets = [...this.sets.filter((one) => one.id !== id), { id, name: form.name, replies }];
		return id;
	};

	op_delete_quick_replies = ({ set }: { set: string }): void => {
		this.sets = this.sets.filter(({ id }) => id !== set);
	};

	op_run_opening_quick_replies = (): null => null;

	op_run_quick_reply = ({ chat, index }: { chat: string; set: string; index: number; typed: string }): QuickReplyRun => {
		if (index === 1) return { outcomes: [this.engine.commands.op_run_command({ chat, text: "/mode study", pictures: [] })], usedText: false };
		if (index === 3) return { outcomes: [{ kind: "insert", text: "Tell me about " }], usedText: false };
		return { outcomes: [{ kind: "started", started: this.engine.op_send_message({ chat, text: "I look around." }) }], usedText: false };
	};
}
