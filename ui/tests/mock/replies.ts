import type { ApiError, EndReason, Message, Picture, ReplyTurn } from "../../src/lib/api/generated";
import * as data from "./data";
import type { MockChat, MockEngine } from "./engine";
import * as groups from "./groups";

/** Writes the replies of the scripted engine. */
export class MockReplies {
	constructor(private readonly engine: MockEngine) {}

	/** Starts a reply to `sent` and leaves it unfinished, so that a scene can stop at any point. */
	begin(chat: MockChat, reply = this.reply(), sent: Message | null = null, turn: ReplyTurn | null = null): Message {
		const known = chat.messages.findIndex((message) => message.id === reply.id);
		if (known < 0) chat.messages.push(reply);
		else chat.messages[known] = reply;
		const swipe = reply.swipes[reply.selected];
		chat.generating = { message: reply.id, swipe: swipe?.id ?? "", text: swipe?.text ?? "", thoughts: "", seq: 0, turn };
		this.engine.emit({ event: "started", chat: chat.id, sent, message: reply, turn });
		return reply;
	}

	token(chat: MockChat, text: string): void {
		const now = chat.generating;
		if (!now) return;
		this.engine.emit({ event: "token", chat: chat.id, message: now.message, swipe: now.swipe, seq: now.seq, text });
		now.seq += 1;
		now.text += text;
	}

	end(chat: MockChat, reason: EndReason, following = 0): void {
		const now = chat.generating;
		const message = chat.messages.find((known) => known.id === now?.message);
		const swipe = message?.swipes.find((known) => known.id === now?.swipe);
		chat.generating = null;
		if (!now || !message || !swipe) return;
		swipe.text = now.text;
		swipe.state = reason.kind === "stop" || reason.kind === "length" ? "finished" : reason.kind === "cancelled" ? "stopped" : "interrupted";
		swipe.figures = data.figures;
		const empty = swipe.text === "" && message.swipes.length === 1;
		if (empty) chat.messages.splice(chat.messages.indexOf(message), 1);
		this.engine.emit({ event: "ended", chat: chat.id, message: empty ? null : message, anchor: this.engine.anchor(), reason, following });
	}

	/** Returns whether the reply was written to its end. */
	async #write(chat: MockChat, following = 0): Promise<boolean> {
		for (let done = 0; done <= 412; done += 103) {
			if (!chat.generating) return false;
			this.engine.emit({ event: "prefill", chat: chat.id, done, total: 412, reused: 103 });
			await pause(60);
		}
		for (const piece of data.REPLY.match(/\S+\s*/g) ?? []) {
			if (!chat.generating) return false;
			this.token(chat, piece);
			await pause(16);
		}
		this.end(chat, { kind: "stop" }, following);
		return true;
	}

	/** The members that a message names answer it, one after the other. */
	async #writeInTurn(chat: MockChat, speakers: string[]): Promise<void> {
		for (let at = 1; at <= speakers.length; at += 1) {
			if (!(await this.#write(chat, speakers.length - at)) || at === speakers.length) return;
			this.#called(chat, speakers[at] ?? null, { number: at + 1, of: speakers.length });
		}
	}

	/** Calls upon a member or the narrator, whose reply begins. */
	#called(chat: MockChat, speaker: string | null, turn: ReplyTurn | null = null) {
		const name = speaker === null ? "Narrator" : (this.engine.op_get_character({ id: speaker })?.fields.name ?? "");
		const by = speaker === chat.character ? {} : { speaker: speaker ?? "" };
		const sent = data.message(`e${this.engine.next}-${Date.now()}`, "event", [data.swipe(`es${this.engine.next++}`, `(${name}'s turn.)`)], { name, ...by, created: data.ago(0) });
		chat.messages.push(sent);
		const reply = this.begin(chat, { ...this.reply(), role: speaker === null ? "narrator" : "character", name, ...by }, sent, turn);
		return { sent, reply };
	}

	/** A new reply without text. */
	reply(): Message {
		return data.message(`a${this.engine.next}-${Date.now()}`, "character", [data.swipe(`s${this.engine.next++}`, "", { state: "streaming", model: "SmolLM2 135M Instruct" })], { created: data.ago(0) });
	}


	op_send_message = ({ chat: id, text }: { chat: string; text: string }) => {
		if (this.engine.models.length + this.engine.endpoints.length === 0) throw { kind: "noModel", message: "There is no model that could answer.", hint: "Add a model file or an endpoint." } satisfies ApiError;
		const chat = this.engine.chat(id);
		const sent = data.message(`u${this.engine.next}-${Date.now()}`, "user", [data.swipe(`us${this.engine.next++}`, text)], { created: data.ago(0) });
		chat.messages.push(sent);
		const speakers = groups.named(chat, text, (id) => this.engine.op_get_character({ id })?.fields.name ?? "");
		const first = speakers.length > 1 && speakers[0] !== chat.character ? { speaker: speakers[0], name: this.engine.op_get_character({ id: speakers[0] ?? "" })?.fields.name ?? "" } : {};
		const reply = this.begin(chat, { ...this.reply(), ...first }, sent, speakers.length > 1 ? { number: 1, of: speakers.length } : null);
		void this.#writeInTurn(chat, speakers.length > 1 ? speakers : [chat.character]);
		return { sent, reply };
	};
	op_speak_next = ({ chat }: { chat: string }) => this.op_let_speak({ chat, speaker: groups.nextOf(this.engine.chat(chat)) });
	op_let_speak = ({ chat: id, speaker }: { chat: string; speaker: string | null }) => {
		const chat = this.engine.chat(id);
		const started = this.#called(chat, speaker);
		void this.#write(chat);
		return started;
	};
	op_send_pictures = ({ chat, text, pictures }: { chat: string; text: string; pictures: Picture[] }) => {
		const started = this.op_send_message({ chat, text });
		started.sent.pictures = pictures;
		return started;
	};
	op_regenerate = ({ chat: id }: { chat: string }) => {
		const chat = this.engine.chat(id);
		const last = chat.messages.at(-1);
		const reply = last?.role === "character" ? last : this.reply();
		if (reply === last) {
			reply.swipes.push(data.swipe(`s${this.engine.next++}-${Date.now()}`, "", { state: "streaming" }));
			reply.selected = reply.swipes.length - 1;
		}
		this.begin(chat, reply);
		void this.#write(chat);
		return { sent: null, reply };
	};
	op_continue_reply = ({ chat: id }: { chat: string }) => {
		const chat = this.engine.chat(id);
		const reply = chat.messages.at(-1);
		if (!reply) throw { kind: "notFound", message: "There is no reply to continue." } satisfies ApiError;
		this.begin(chat, reply);
		void this.#write(chat);
		return { sent: null, reply };
	};
	op_impersonate = async ({ chat: id }: { chat: string }) => {
		this.engine.emit({ event: "drafting", chat: id });
		const text = "Thank you, I would love some soup.";
		void (async () => {
			for (const [seq, piece] of (text.match(/\S+\s*/g) ?? []).entries()) {
				this.engine.emit({ event: "draft", chat: id, seq, text: piece });
				await pause(16);
			}
			this.engine.chat(id).draft = text;
			this.engine.emit({ event: "drafted", chat: id, text, figures: data.figures, reason: { kind: "stop" } });
		})();
	};
	op_stop = ({ chat: id }: { chat: string }) => this.end(this.engine.chat(id), { kind: "cancelled" });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
