import type { Event } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import { plainLine } from "../text/plain";
import type { App } from "./app.svelte";

type Ended = Extract<Event, { event: "ended" }>;

/** Notifies the desktop of a reply that ends while the window is not in front. */
export function notifyOfReply(app: App, { chat, message, reason }: Ended, inFront = document.hasFocus()): void {
	const { notifications } = app.settings.value;
	if (notifications === "off" || inFront || !message || reason.kind === "cancelled") return;
	const text = message.swipes[message.selected]?.text ?? "";
	const title = app.chats.all.find(({ id }) => id === chat)?.title ?? message.name;
	const full = notifications === "full";
	// A missing notification must not disturb the chat.
	app.api.shell.notify(full ? title : t("notify.ready"), full ? plainLine(text) : "").catch(() => {});
}
