import type { Chat, Message } from "../api/generated";
import { shownSwipe } from "./messages";

/** A character on the stage. */
export interface Actor {
	id: string;
	name: string;
	/** The picture of the card. */
	picture: string | null;
	emotion: string;
	/** Chooses among several pictures of one emotion. The same swipe always chooses the same. */
	variant: number;
	/** The speaker stands in front. */
	speaks: boolean;
}

const NEUTRAL = "neutral";

/** The characters of a chat with the emotions of their last messages; the last speaker comes last. */
export function actors(info: Chat, messages: readonly Message[]): Actor[] {
	const cast = [
		{ id: info.character, name: info.characterName, picture: info.picture },
		...(info.members ?? []).map(({ id, name, picture }) => ({ id, name, picture })),
	];
	const said = messages.filter(({ role }) => role === "character");
	const speaker = (message: Message | undefined) => message?.speaker ?? info.character;
	const front = speaker(said.at(-1));
	const shown = cast.map((one) => {
		const last = said.findLast((message) => speaker(message) === one.id);
		const swipe = last && shownSwipe(last);
		return { ...one, emotion: swipe?.emotion?.label ?? NEUTRAL, variant: variantOf(swipe?.id ?? ""), speaks: one.id === front };
	});
	return [...shown.filter(({ speaks }) => !speaks), ...shown.filter(({ speaks }) => speaks)];
}

function variantOf(id: string): number {
	let sum = 0;
	for (let at = 0; at < id.length; at++) sum = (sum * 31 + id.charCodeAt(at)) >>> 0;
	return sum;
}
