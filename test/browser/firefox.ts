import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';

const PLACES = [process.env['FIREFOX'], '/usr/bin/firefox-esr', '/usr/bin/firefox'];
/** The path of Firefox on this machine; null if it is not installed. */
export const FIREFOX = PLACES.find((place) => place !== undefined && existsSync(place)) ?? null;
export const NO_FIREFOX = 'no Firefox here: install firefox-esr, or set FIREFOX';

const START_DEADLINE_MS = 60_000;

export interface BrowserCookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  readonly path: string;
  readonly httpOnly: boolean;
}

type Json = Record<string, unknown>;

/**
 * An installed Firefox, headless, driven by WebDriver BiDi (w3c.github.io/webdriver-bidi) without a separate driver.
 */
export class Firefox {
  private sent = 0;
  private readonly answers = new Map<number, (answer: Json) => void>();

  private constructor(
    private readonly child: ChildProcess,
    private readonly profile: string,
    private readonly socket: WebSocket,
  ) {
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Json;
      this.answers.get(Number(message['id']))?.(message);
    });
  }

  static async launch(): Promise<Firefox> {
    const profile = await mkdtemp(join(tmpdir(), 'ags-firefox-'));
    const args = ['--headless', '--no-remote', '--remote-debugging-port', '0', '--profile', profile];
    const child = spawn(FIREFOX ?? '', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const address = await new Promise<string>((resolve, reject) => {
      let said = '';
      const deadline = setTimeout(() => reject(new Error(`Firefox did not start:\n${said}`)), START_DEADLINE_MS);
      child.once('exit', () => reject(new Error(`Firefox ended:\n${said}`)));
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        const [, found] = /WebDriver BiDi listening on (ws:\S+)/.exec(said) ?? [];
        if (found === undefined) return;
        clearTimeout(deadline);
        resolve(found);
      });
    });
    const socket = new WebSocket(`${address}/session`);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const firefox = new Firefox(child, profile, socket);
    await firefox.send('session.new', { capabilities: {} });
    return firefox;
  }

  /**
   * Sends a command.
   * @throws {Error} if Firefox answers with an error
   */
  async send(method: string, params: Json): Promise<Json> {
    const id = (this.sent += 1);
    const answered = new Promise<Json>((resolve) => this.answers.set(id, resolve));
    this.socket.send(JSON.stringify({ id, method, params }));
    const answer = await answered;
    if (answer['type'] === 'error') throw new Error(`${method}: ${String(answer['message'])}`);
    return answer['result'] as Json;
  }

  /** Opens a tab with these cookies. The script `before` runs before each page's own scripts. */
  async tab(cookies: readonly BrowserCookie[], before: string): Promise<FirefoxTab> {
    for (const { name, value, domain, path, httpOnly } of cookies) {
      const cookie = { name, value: { type: 'string', value }, domain, path, httpOnly, sameSite: 'lax' };
      await this.send('storage.setCookie', { cookie });
    }
    await this.send('script.addPreloadScript', { functionDeclaration: `() => { ${before} }` });
    const { context } = await this.send('browsingContext.create', { type: 'tab' });
    return new FirefoxTab(this, String(context));
  }

  async close(): Promise<void> {
    this.socket.close();
    const exited = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await exited;
    await rm(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class FirefoxTab {
  constructor(
    private readonly firefox: Firefox,
    private readonly context: string,
  ) {}

  async goto(url: string): Promise<void> {
    await this.firefox.send('browsingContext.navigate', { context: this.context, url, wait: 'complete' });
  }

  /** The value of an expression in the page, as a string. A promise is awaited. */
  async evaluate(expression: string): Promise<string> {
    const target = { context: this.context };
    const { result } = await this.firefox.send('script.evaluate', { expression, target, awaitPromise: true });
    return String((result as Json)['value']);
  }

  /** @returns a screenshot as PNG */
  async picture(): Promise<Buffer> {
    const { data } = await this.firefox.send('browsingContext.captureScreenshot', { context: this.context });
    return Buffer.from(String(data), 'base64');
  }

  async resize(width: number, height: number): Promise<void> {
    await this.firefox.send('browsingContext.setViewport', { context: this.context, viewport: { width, height } });
  }
}
