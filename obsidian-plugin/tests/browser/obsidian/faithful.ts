/**
 * Checked by the compiler alone: what the stand-in shares with the published types has their form.
 *
 * A name of the stand-in whose type does not fit makes its class's line below an error that tells
 * the name. Names that the stand-in lacks are no error here; at run time they are.
 */
import type * as O from "obsidian";
import type { App, SecretStorage } from "./app";
import type * as controls from "./controls";
import type { Editor } from "./editor";
import type { Component, Events } from "./events";
import type * as files from "./files";
import type { Keymap, Scope } from "./keymap";
import type { Menu, MenuItem, Notice } from "./menu";
import type { FileManager, MetadataCache } from "./metadata";
import type * as misc from "./misc";
import type * as modal from "./modal";
import type * as suggest from "./suggest";
import type { Plugin } from "./plugin";
import type { Setting, SettingGroup, SettingTab } from "./settings";
import type * as views from "./views";
import type { WorkspaceLeaf } from "./leaf";
import type { Workspace } from "./workspace";

/** Names whose types are the stand-in's own, and cast where a plugin meets them. */
type Own =
  | "app"
  | "workspace"
  | "vault"
  | "metadataCache"
  | "fileManager"
  | "keymap"
  | "secretStorage"
  | "then" // calls back with itself
  | "on"; // overloaded for each event; Events has the one that all have in common

/** Parameters either way round, as methods are compared; a method that gives itself may. */
type Same<M, T, Self> = [M] extends [T] ? true : SameCall<M, T, Self>;

type SameCall<M, T, Self> = M extends (...given: infer P) => infer R
  ? T extends (...given: infer Q) => infer S
    ? [Q] extends [P]
      ? Gives<R, S, Self>
      : [P] extends [Q]
        ? Gives<R, S, Self>
        : false
    : false
  : false;

type Gives<R, S, Self> = [R] extends [S]
  ? true
  : [R] extends [Self]
    ? true
    : unknown extends R
      ? true
      : false;

type Shared<Mine, Theirs> = Exclude<keyof Mine & keyof Theirs, Own>;

type Unlike<Mine, Theirs> = {
  [K in Shared<Mine, Theirs>]: Same<Mine[K], Theirs[K], Mine> extends true ? never : K;
}[Shared<Mine, Theirs>];

type Fits<Mine, Theirs> = [Unlike<Mine, Theirs>] extends [never] ? true : Unlike<Mine, Theirs>;

export type Faithful = [
  Check<Fits<App, O.App>>,
  Check<Fits<SecretStorage, O.SecretStorage>>,
  Check<Fits<controls.TextComponent, O.TextComponent>>,
  Check<Fits<controls.ToggleComponent, O.ToggleComponent>>,
  Check<Fits<controls.DropdownComponent, O.DropdownComponent>>,
  Check<Fits<controls.SliderComponent, O.SliderComponent>>,
  Check<Fits<controls.ButtonComponent, O.ButtonComponent>>,
  Check<Fits<controls.ExtraButtonComponent, O.ExtraButtonComponent>>,
  Check<Fits<controls.SearchComponent, O.SearchComponent>>,
  Check<Fits<Editor, O.Editor>>,
  Check<Fits<Events, O.Events>>,
  Check<Fits<Component, O.Component>>,
  Check<Fits<files.TFile, O.TFile>>,
  Check<Fits<files.TFolder, O.TFolder>>,
  Check<Fits<files.Vault, O.Vault>>,
  Check<Fits<files.FileSystemAdapter, O.FileSystemAdapter>>,
  Check<Fits<Keymap, O.Keymap>>,
  Check<Fits<Scope, O.Scope>>,
  Check<Fits<Menu, O.Menu>>,
  Check<Fits<MenuItem, O.MenuItem>>,
  Check<Fits<Notice, O.Notice>>,
  Check<Fits<MetadataCache, O.MetadataCache>>,
  Check<Fits<FileManager, O.FileManager>>,
  Check<Fits<modal.Modal, O.Modal>>,
  Check<Fits<modal.SuggestModal<string>, O.SuggestModal<string>>>,
  Check<Fits<suggest.AbstractInputSuggest<string>, O.AbstractInputSuggest<string>>>,
  Check<Fits<Plugin, O.Plugin>>,
  Check<Fits<Setting, O.Setting>>,
  Check<Fits<SettingGroup, O.SettingGroup>>,
  Check<Fits<SettingTab, O.SettingTab>>,
  Check<Fits<views.View, O.View>>,
  Check<Fits<views.ItemView, O.ItemView>>,
  Check<Fits<views.MarkdownView, O.MarkdownView>>,
  Check<Fits<Workspace, O.Workspace>>,
  Check<Fits<WorkspaceLeaf, O.WorkspaceLeaf>>,
  Check<Fits<typeof misc, typeof O>>,
];

type Check<T extends true> = T;
