import type { Receipt } from "../../api/generated";
import type { Api } from "../api";

/** Maximum number of ids per request. The engine ignores ids beyond it. */
const LIMIT = 1_000;

/** Loads the receipts of any number of messages. Duplicate ids are requested once. */
export async function receiptsOf(api: Api, messages: string[]): Promise<Receipt[]> {
	const ids = [...new Set(messages)];
	const found: Receipt[] = [];
	// Sequential requests, so that a message sent meanwhile does not have to wait for all of them.
	for (let at = 0; at < ids.length; at += LIMIT) found.push(...(await api.receipts(ids.slice(at, at + LIMIT))));
	return found;
}
