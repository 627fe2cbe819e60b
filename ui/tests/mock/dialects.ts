import type { EndpointDialect } from "../../src/lib/api/generated";

/** The API of an address, as the engine guesses it for the services in the form. */
export function guessedDialect(url: string): EndpointDialect {
	if (url.includes("api.anthropic.com")) return "anthropic";
	if (url.includes("generativelanguage")) return "gemini";
	if (url.endsWith(":11434")) return "ollama";
	return "openai";
}
