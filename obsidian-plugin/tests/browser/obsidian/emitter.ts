/** Node's EventEmitter, as far as child processes need it. */
type Listener = (...data: unknown[]) => unknown;

export class Emitter {
  private readonly listeners = new Map<string, Listener[]>();

  on(name: string, listener: Listener): this {
    this.listeners.set(name, [...(this.listeners.get(name) ?? []), listener]);
    return this;
  }

  once(name: string, listener: Listener): this {
    const one: Listener = (...data) => {
      this.off(name, one);
      return listener(...data);
    };
    return this.on(name, one);
  }

  off(name: string, listener: Listener): this {
    const left = (this.listeners.get(name) ?? []).filter((known) => known !== listener);
    this.listeners.set(name, left);
    return this;
  }

  removeListener(name: string, listener: Listener): this {
    return this.off(name, listener);
  }

  removeAllListeners(): this {
    this.listeners.clear();
    return this;
  }

  setEncoding(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  resume(): this {
    return this;
  }

  destroy(): this {
    return this.removeAllListeners();
  }

  emit(name: string, ...data: unknown[]): boolean {
    const known = this.listeners.get(name) ?? [];
    if (name === "error" && !known.length) throw data[0] as Error;
    for (const listener of known) listener(...data);
    return known.length > 0;
  }
}
