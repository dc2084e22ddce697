/** A disk on which the test decides when each sync completes. */
export class FakeLogSync {
  isClosed = false;
  private readonly waiting: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];

  get isAsked(): boolean {
    return this.waiting.length > 0;
  }

  sync(): Promise<void> {
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  close(): void {
    this.isClosed = true;
  }

  async finishNext(): Promise<void> {
    this.waiting.shift()?.resolve();
    await this.afterwards();
  }

  /** Completes the sync that began last, before the others. */
  async finishLast(): Promise<void> {
    this.waiting.pop()?.resolve();
    await this.afterwards();
  }

  async failNext(error: unknown): Promise<void> {
    this.waiting.shift()?.reject(error);
    await this.afterwards();
  }

  /** Resolves once the callers that waited for the sync have continued. */
  private afterwards(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}
