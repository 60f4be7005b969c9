/** The module `obsidian` as a plugin gets it. What is not played here fails loudly. */
import moment from "moment";
import { SecretStorage } from "./app";
import * as controls from "./controls";
import { Component, Events } from "./events";
import { addIcon, getIcon, setIcon } from "./icons";
import * as files from "./files";
import { Keymap, Scope } from "./keymap";
import { MarkdownRenderChild, MarkdownRenderer } from "./markdown";
import { Menu, MenuItem, Notice } from "./menu";
import * as metadata from "./metadata";
import * as misc from "./misc";
import * as modal from "./modal";
import * as suggest from "./suggest";
import { Plugin } from "./plugin";
import * as settings from "./settings";
import * as views from "./views";
import { WorkspaceLeaf } from "./leaf";
import { Workspace } from "./workspace";
import { Editor } from "./editor";

export const parts = {
  ...misc,
  ...controls,
  ...modal,
  ...suggest,
  ...settings,
  ...views,
  ...files,
  ...metadata,
  Component,
  Editor,
  Events,
  Keymap,
  MarkdownRenderChild,
  MarkdownRenderer,
  Menu,
  MenuItem,
  Notice,
  Plugin,
  Scope,
  SecretStorage,
  Workspace,
  WorkspaceLeaf,
  addIcon,
  getIcon,
  moment,
  setIcon,
};

const ASKED_BY_TOOLS = new Set(["__esModule", "default", "then"]);

/** The same, and a name that is not there is an error that names it. */
export const obsidian: object = new Proxy(parts, {
  get(target, name) {
    if (name in target) return Reflect.get(target, name) as unknown;
    if (typeof name === "symbol" || ASKED_BY_TOOLS.has(name)) return undefined;
    throw new Error(`the stand-in for Obsidian has no ${name}`);
  },
});
