import type { Receipt } from "../../api/generated";
import type { Api } from "../api";

/** The engine looks up as many in one call, and says nothing of those beyond. */
const MOST = 1_000;

/** Where messages were said, however many they are; none is asked for twice. */
export async function receiptsOf(api: Api, messages: string[]): Promise<Receipt[]> {
	const ids = [...new Set(messages)];
	const said: Receipt[] = [];
	// One piece after the other: a turn that is sent meanwhile does not wait for all of them.
	for (let at = 0; at < ids.length; at += MOST) said.push(...(await api.receipts(ids.slice(at, at + MOST))));
	return said;
}
