import type { ApiError, ProviderClass } from "../api/generated";
import type { Screen } from "../state/app.svelte";
import type { PageName, Topic } from "./pages";

/** Headings on the page for troubleshooting. */
const KINDS = {
	contextOverflow: "context-overflow",
	noModel: "no-model",
	badInput: "bad-input",
	notFound: "not-found",
	promptNotKept: "prompt-not-kept",
	busy: "busy",
	storage: "storage",
	keychain: "keychain",
	toolServer: "tool-server",
	internal: "internal",
} satisfies Record<Exclude<ApiError["kind"], "provider">, string>;

const CLASSES = {
	unreachable: "unreachable",
	timeout: "timeout",
	unauthorized: "unauthorized",
	notFound: "unknown-model",
	rateLimited: "rate-limited",
	server: "server",
	badRequest: "bad-request",
	filtered: "content-filter",
	contextOverflow: "context-overflow",
	malformed: "malformed",
	cut: "cut",
	tls: "tls",
	model: "model",
	workerDied: "worker-died",
	outOfMemory: "out-of-memory",
} satisfies Record<ProviderClass, string>;

/** All topics of errors. */
export const ERROR_TOPICS: readonly Topic[] = [...Object.values(KINDS), ...Object.values(CLASSES)].map((heading) => `troubleshooting#${heading}` as const);

/** The help topic of an error. */
export function errorTopic(error: ApiError): Topic {
	return `troubleshooting#${error.kind === "provider" ? CLASSES[error.class] : KINDS[error.kind]}`;
}

/** The page that fits a screen. */
export const SCREEN_PAGES: Record<Screen, PageName> = {
	chats: "chatting",
	people: "characters",
	books: "lorebooks",
	prompts: "prompt-templates",
	models: "models",
	settings: "getting-started",
};

/** The topics of the groups of settings. */
export const SETTING_TOPICS = {
	prompt: "presets#settings",
	story: "groups#story",
	sampler: "presets#samplers",
	context: "context#settings",
	pictures: "chatting#faces",
	chat: "chatting#display",
	tools: "tools#switches",
	loading: "models#loading",
	privacy: "privacy#kept",
} satisfies Record<string, Topic>;
