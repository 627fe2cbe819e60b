import type { ChatMatches, ExcerptPart, ItemHit, ItemPlace, SearchGroup, SearchGroupKind, SearchHit, SearchPage, SearchResults } from "../../src/lib/api/generated";
import type { MockChat } from "./engine";

interface Sources {
	chats: MockChat[];
	/** Everything that is found besides messages. */
	items: () => { kind: SearchGroupKind; place: ItemPlace; title: string; context: string; text: string }[];
}

const PAGE = 50;
const KINDS: SearchGroupKind[] = ["notes", "memories", "entries", "characters"];

/** Search of the scripted engine: every word must occur. The word `meaning` finds a few things by meaning. */
export class MockSearch {
	/** Something is embedded. */
	embedded = true;

	constructor(private readonly sources: Sources) {}

	op_search_messages = ({ text, chat, skip }: { text: string; chat: string | null; skip: number }): SearchPage => {
		const hits = this.#messages(text, chat);
		return { hits: hits.slice(skip, skip + PAGE), more: hits.length > skip + PAGE };
	};

	op_find_in_chat = ({ chat, text }: { chat: string; text: string }): ChatMatches => {
		const wanted = words(text);
		const all = this.sources.chats.find(({ id }) => id === chat)?.messages ?? [];
		const found = all.filter((message) => matches(message.swipes[message.selected]?.text ?? "", wanted));
		return { messages: found.map(({ id }) => id), more: false, terms: wanted.map((word) => ({ text: word, unfinished: true })) };
	};

	op_search = ({ text, chat, meaning }: { text: string; chat: string | null; meaning: boolean }): SearchResults => {
		const earlier = text.includes("lamp") ? this.#messages("lamp", chat).slice(0, 1) : [];
		const results: SearchResults = { messages: this.op_search_messages({ text, chat, skip: 0 }), earlier: { hits: earlier, more: false }, groups: [], canFindMeaning: this.embedded };
		if (text.trim() === "") return { ...results, messages: { hits: [], more: false }, earlier: { hits: [], more: false } };
		results.groups = KINDS.map((kind) => this.#group(kind, text)).filter(({ items }) => items.length > 0);
		if (meaning && this.embedded) this.#addMeaning(results, chat);
		return results;
	};

	#messages(text: string, chat: string | null): SearchHit[] {
		const wanted = words(text);
		const all = this.sources.chats.filter(({ id }) => chat === null || id === chat).flatMap((known) => known.messages.map((message) => ({ known, message })));
		return all.flatMap(({ known, message }) =>
			message.swipes
				.filter((swipe) => matches(swipe.text, wanted))
				.map((swipe) => ({
					chat: known.id,
					title: known.title,
					character: "Mira",
					message: message.id,
					swipe: swipe.id,
					isShown: message.swipes[message.selected] === swipe,
					role: message.role,
					name: message.role === "user" ? null : message.name,
					created: message.created,
					excerpt: excerpt(swipe.text, wanted[0] ?? ""),
					byMeaning: false,
				})),
		);
	}

	#group(kind: SearchGroupKind, text: string): SearchGroup {
		const wanted = words(text);
		const found = this.sources.items().filter((item) => item.kind === kind && matches(`${item.title} ${item.text}`, wanted));
		const items = found.map(({ place, title, context, text: whole }): ItemHit => ({ place, title, context, excerpt: excerpt(whole, wanted[0] ?? ""), byMeaning: false }));
		return { kind, items, more: false };
	}

	#addMeaning(results: SearchResults, chat: string | null): void {
		const known = results.messages.hits.map(({ swipe }) => swipe);
		const near = this.#messages("wax", chat).filter(({ swipe }) => !known.includes(swipe));
		results.messages.hits.push(...near.slice(0, 2).map((hit) => ({ ...hit, byMeaning: true })));
	}
}

const words = (text: string) => text.toLowerCase().split(/\s+/).filter(Boolean);
const matches = (text: string, wanted: string[]) => wanted.length > 0 && wanted.every((word) => text.toLowerCase().includes(word));

function excerpt(text: string, word: string): ExcerptPart[] {
	const at = text.toLowerCase().indexOf(word);
	if (at < 0) return [{ text: text.slice(0, 200), isMatch: false }];
	const parts = [text.slice(Math.max(0, at - 40), at), text.slice(at, at + word.length), text.slice(at + word.length, at + 160)];
	return parts.map((part, index) => ({ text: part, isMatch: index === 1 })).filter((part) => part.text !== "");
}
