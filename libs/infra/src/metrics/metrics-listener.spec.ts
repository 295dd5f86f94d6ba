import { request, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ListenAddress } from '../config/index.js';
import { MetricsListener } from './metrics-listener.js';

const TEXT = 'service_http_in_flight 0\n';

let listener: MetricsListener;
let url: string;
beforeEach(async () => {
  listener = new MetricsListener({ text: () => Promise.resolve(TEXT) });
  url = `http://${(await listener.listen(new ListenAddress('127.0.0.1', 0))).toString()}`;
});
afterEach(() => listener.close());

describe('the listener of metrics', () => {
  it('answers GET in text exposition format 0.0.4, never to be stored', async () => {
    const answer = await fetch(`${url}/metrics`);
    expect([answer.status, await answer.text()]).toEqual([200, TEXT]);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('answers HEAD with the headers of GET and nothing else', async () => {
    const answer = await fetch(`${url}/metrics?x=1`, { method: 'HEAD' });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(answer.headers.get('content-length')).toBe(String(TEXT.length));
  });

  it.each(['POST', 'DELETE', 'OPTIONS', 'PROPFIND'])('refuses %s and says what it takes', async (method) => {
    const answer = await fetch(`${url}/metrics`, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('outlives a connection that the system has no file for', async () => {
    const server = Reflect.get(listener, 'server') as Server;
    server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE', syscall: 'accept' }));
    expect((await fetch(`${url}/metrics`)).status).toBe(200);
  });

  it('says whether the process is ready, which it is neither while it starts nor while it stops', async () => {
    const ready = async () => {
      const answer = await fetch(`${url}/ready`);
      return [answer.status, await answer.text()];
    };
    expect(await ready()).toEqual([503, 'starting\n']);
    listener.readiness = 'ready';
    expect(await ready()).toEqual([200, 'ready\n']);
    listener.readiness = 'draining';
    expect(await ready()).toEqual([503, 'draining\n']);
    expect((await fetch(`${url}/metrics`)).status).toBe(200);
  });

  it('has nothing else', async () => {
    for (const path of ['/', '/v1/health', '/metrics/', '//metrics']) {
      expect((await fetch(url + path)).status, path).toBe(404);
    }
  });

  it('cuts off a caller whose metrics cannot be made, and serves the next', async () => {
    const failing = new MetricsListener({ text: () => Promise.reject(new Error('no queue')) });
    const { port } = await failing.listen(new ListenAddress('127.0.0.1', 0));
    const ended = new Promise((resolve) => request({ port, path: '/metrics' }).once('error', resolve).end());
    expect(await ended).toMatchObject({ code: 'ECONNRESET' });
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
    await failing.close();
  });

  it('says where it cannot listen', async () => {
    const { port } = new URL(url);
    await expect(
      new MetricsListener({ text: () => Promise.resolve('') }).listen(new ListenAddress('127.0.0.1', Number(port))),
    ).rejects.toThrow(/EADDRINUSE/);
  });
});
