import type { EndpointDialect } from "../api/generated";
import { t } from "./i18n.svelte";

/** The APIs in the order in which the form offers them. */
export const DIALECTS: readonly EndpointDialect[] = ["openai", "text", "anthropic", "gemini", "ollama"];

export function dialectName(dialect: EndpointDialect): string {
	switch (dialect) {
		case "openai":
			return t("endpoint.dialect.openai");
		case "text":
			return t("endpoint.dialect.text");
		case "anthropic":
			return t("endpoint.dialect.anthropic");
		case "gemini":
			return t("endpoint.dialect.gemini");
		case "ollama":
			return t("endpoint.dialect.ollama");
		default:
			return dialect satisfies never;
	}
}

/** The meaning of the choice of an API; `null` for the choice by address. */
export function dialectAbout(dialect: EndpointDialect | null): string {
	switch (dialect) {
		case null:
			return t("endpoint.dialectAbout.auto");
		case "openai":
			return t("endpoint.dialectAbout.openai");
		case "text":
			return t("endpoint.dialectAbout.text");
		case "anthropic":
			return t("endpoint.dialectAbout.anthropic");
		case "gemini":
			return t("endpoint.dialectAbout.gemini");
		case "ollama":
			return t("endpoint.dialectAbout.ollama");
		default:
			return dialect satisfies never;
	}
}

/** The usual form of an address with this API. */
export function addressOf(dialect: EndpointDialect | null): string {
	switch (dialect) {
		case "anthropic":
			return "https://api.anthropic.com/v1";
		case "gemini":
			return "https://generativelanguage.googleapis.com/v1beta";
		case "ollama":
			return "http://127.0.0.1:11434";
		case null:
		case "openai":
		case "text":
			return "http://127.0.0.1:8080/v1";
		default:
			return dialect satisfies never;
	}
}

/** A note on keys of this API; empty if nothing is special. */
export function keyHint(dialect: EndpointDialect | null): string {
	switch (dialect) {
		case "anthropic":
			return t("endpoint.keyAnthropic");
		case "gemini":
			return t("endpoint.keyGemini");
		case "ollama":
			return t("endpoint.keyOllama");
		case null:
		case "openai":
		case "text":
			return "";
		default:
			return dialect satisfies never;
	}
}
