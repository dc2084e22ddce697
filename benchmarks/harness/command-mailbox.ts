import type { IncomingMessage, ServerResponse } from 'node:http';

// For browsers that can only open a page: the page requests its next command and posts the result.
const COMMANDS = '/commands/';
const ANSWERS = '/answers/';

interface Command {
  readonly name: string;
  readonly args: readonly unknown[];
}

interface Answer {
  readonly value?: unknown;
  readonly error?: string;
}

/** Holds the commands for the pages and their results, one at a time for each page. */
export class CommandMailbox {
  readonly #askedBy = new Map<string, (command: Command) => void>();
  readonly #commands = new Map<string, Command>();
  readonly #answered = new Map<string, (answer: Answer) => void>();

  async call(pageId: string, name: string, args: readonly unknown[]): Promise<unknown> {
    const answering = new Promise<Answer>((resolve) => this.#answered.set(pageId, resolve));
    const asking = this.#askedBy.get(pageId);
    this.#askedBy.delete(pageId);
    if (asking === undefined) this.#commands.set(pageId, { name, args });
    else asking({ name, args });
    const { value, error } = await answering;
    if (error !== undefined) throw new Error(error);
    return value;
  }

  /** Answers a request of a page. Returns false for any other request. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const path = request.url ?? '';
    if (path.startsWith(COMMANDS)) {
      const pageId = path.slice(COMMANDS.length);
      const give = (command: Command): void =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(command));
      const waiting = this.#commands.get(pageId);
      this.#commands.delete(pageId);
      if (waiting === undefined) this.#askedBy.set(pageId, give);
      else give(waiting);
      return true;
    }
    if (path.startsWith(ANSWERS)) {
      void this.#takeAnswer(path.slice(ANSWERS.length), request, response);
      return true;
    }
    return false;
  }

  async #takeAnswer(pageId: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
    response.writeHead(204).end();
    this.#answered.get(pageId)?.(JSON.parse(body) as Answer);
    this.#answered.delete(pageId);
  }
}
