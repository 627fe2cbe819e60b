import type { Message, Started, TokenChoices } from "../../src/lib/api/generated";

/** What tokens need from the scripted engine. */
interface Host {
	find(message: string): Message;
	continued(chat: string, text: string): Started;
	last(chat: string): Message | undefined;
}

const text = (message: Message | undefined) => message?.swipes[message.selected]?.text ?? "";

/** Whether the scripted engine has recorded the tokens of this swipe. */
export const hasTokens = (swipe: string): boolean => !swipe.includes("streaming");

/** Token probabilities of the scripted engine: each word is a token. */
export class MockTokens {
	constructor(private readonly host: Host) {}

	op_token_choices = ({ message }: { message: string }): TokenChoices => this.#choices(text(this.host.find(message)));
	op_continue_from_token = ({ chat, token, alternative }: { chat: string; token: number; alternative: number }): Started => {
		const { tokens } = this.#choices(text(this.host.last(chat)));
		const kept = tokens.slice(0, token).map((one) => one.text);
		return this.host.continued(chat, [...kept, tokens[token]?.alternatives[alternative]?.text ?? ""].join(""));
	};

	#choices(whole: string): TokenChoices {
		const words = whole.match(/\s*\S+/g) ?? [];
		return {
			before: "",
			tokens: words.map((word, at) => {
				const probability = [0.93, 0.41, 0.66, 0.12][at % 4] ?? 0.5;
				const others = [" quietly", " then", "\n\n", " —"].map((other, place) => ({ text: other, probability: ((1 - probability) * 0.5) / (place + 1) }));
				return { text: word, probability, alternatives: [{ text: word, probability }, ...others].sort((a, b) => b.probability - a.probability) };
			}),
		};
	}
}
