import type { LayeredSetting } from "../api/generated";
import { synonyms, t } from "../i18n/i18n.svelte";
import { groupOf } from "../state/layeredSettings.svelte";
import * as texts from "../i18n/settingTexts";

/** A row or a section of the settings screen that the search finds. */
export interface SettingEntry {
	tab: string;
	/** The `data-setting` of the row or section. */
	row: string;
	name: string;
	/** The hint on the screen. */
	about: string;
	/** Other words that people use for it. */
	words: string;
	/** The tab, and for settings of prompts and replies the group. */
	place: string;
}

/** All settings by tab. The first of each tab is the tab itself. */
export function settingEntries(layered: readonly LayeredSetting[]): SettingEntry[] {
	const entry = (tab: string, row: string, name: string, about = "", place = name): SettingEntry => ({ tab, row, name, about, words: synonyms(row), place });
	const look = t("settings.appearance");
	const backups = t("settings.backups");
	return [
		entry("appearance", "theme", t("settings.theme"), "", look),
		entry("appearance", "accent", t("settings.accent"), "", look),
		entry("appearance", "language", t("settings.language"), "", look),
		entry("appearance", "face", t("settings.face"), t("settings.readingText"), look),
		entry("appearance", "size", t("settings.size"), t("settings.readingText"), look),
		entry("appearance", "width", t("settings.width"), t("settings.readingText"), look),
		entry("appearance", "lineHeight", t("settings.lineHeight"), t("settings.readingText"), look),
		entry("appearance", "avatars", t("settings.avatars"), t("settings.readingText"), look),
		entry("appearance", "avatarSize", t("settings.avatarSize"), t("settings.readingText"), look),
		entry("appearance", "layout", t("settings.layout"), t("settings.readingText"), look),
		entry("appearance", "shortcuts", t("settings.shortcuts"), t("settings.shortcutsAbout"), look),
		entry("appearance", "look", t("settings.look"), t("settings.lookText"), look),
		entry("personas", "personas", t("settings.personas"), t("personas.text")),
		entry("toolServers", "toolServers", t("toolServers.title"), t("toolServers.about"), t("settings.toolServers")),
		entry("imports", "imports", t("imports.title"), t("imports.about"), t("settings.imports")),
		entry("backups", "backups", backups, t("backups.about")),
		entry("backups", "archive", t("backups.archive"), t("backups.archiveAbout"), backups),
		entry("backups", "budget", t("backups.budget"), "", backups),
		entry("backups", "folder", t("backups.folder"), "", backups),
		entry("backups", "second", t("backups.second"), "", backups),
		entry("localApi", "localApi", t("settings.localApi"), t("localApi.about")),
		entry("localApi", "localApiPort", t("localApi.port"), t("localApi.portAbout"), t("settings.localApi")),
		entry("localApi", "apiKeys", t("apiKeys.title"), t("apiKeys.about"), t("settings.localApi")),
		entry("trash", "trash", t("settings.trash"), t("trash.about")),
		entry("updates", "updates", t("settings.updates"), t("updates.about")),
		entry("updates", "weeklyUpdates", t("updates.weekly"), t("updates.weeklyAbout"), t("settings.updates")),
		entry("health", "health", t("settings.health")),
		entry("health", "about", t("about.title"), t("about.text"), t("settings.health")),
		entry("privacy", "privacy", t("settings.privacy"), t("privacy.about")),
		entry("privacy", "encryption", t("encryption.title"), t("encryption.about"), t("settings.privacy")),
		entry("privacy", "forgetDays", t("forget.daysTitle"), t("forget.daysAbout"), t("settings.privacy")),
		...layered.map((setting) => ({
			...placeOf(setting),
			row: setting.key,
			name: texts.label(setting),
			about: texts.about(setting),
			words: `${synonyms(setting.key)} ${setting.key.replaceAll("_", " ")}`,
		})),
	];
}

function placeOf(setting: LayeredSetting): Pick<SettingEntry, "tab" | "place"> {
	switch (setting.group) {
		case "tools":
			return { tab: "tools", place: t("settings.tools") };
		case "privacy":
			return { tab: "privacy", place: t("settings.privacy") };
		default:
			return { tab: "writing", place: `${t("settings.writing")} · ${texts.group(groupOf(setting))}` };
	}
}
