import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DynamicModule, INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Deployment } from '#libs/infra/deployment';
import { baseUrlOf } from '#libs/infra/config';
import { publicEndpointOf } from '#libs/infra/egress';
import { createHttpEdge, type HttpEdge } from './http/http-edge.js';
import { RepeatedFault } from '#libs/infra/logging';
import { NestLogger } from './http/nest-logger.js';

const BACKLOG_REFRESH_MS = 5_000;

/** The HTTP server over a composed application: listens, drains, closes. */
export class ApiServer {
  private app: INestApplication<Server> | null = null;
  private backlogTimer: NodeJS.Timeout | null = null;
  private readonly unread = new RepeatedFault((fault) =>
    this.deployment.logger.warn('the sealing backlog could not be read', fault),
  );
  readonly edge: HttpEdge;

  constructor(private readonly deployment: Deployment) {
    const { config, clock, randomness, logger, metrics, secrets } = deployment;
    const { docsUrl, trustedProxies } = config;
    this.edge = createHttpEdge({
      clock,
      randomness,
      logger,
      meter: metrics,
      baseUrl: baseUrlOf(config, config.port),
      docsUrl,
      trustedProxies,
      pepper: secrets.pepper,
    });
  }

  /** @returns the base URL that clients use */
  async listen(root: Type | DynamicModule): Promise<string> {
    const { config, logger } = this.deployment;
    const app = await NestFactory.create<INestApplication<Server>>(root, this.edge.adapter, {
      bodyParser: false,
      logger: new NestLogger(logger),
      abortOnError: false,
    });
    this.app = app;
    await app.init();
    // Not by way of Nest, which logs what it cannot listen on before it throws it.
    await this.edge.adapter
      .getInstance()
      .listen({ port: config.port, host: config.host })
      .catch((error: unknown) => {
        throw ofListening(error, config.host);
      });
    const { address, port } = app.getHttpServer().address() as AddressInfo;
    const baseUrl = baseUrlOf(config, port);
    this.edge.isServedAt(baseUrl);
    this.deployment.baseUrl = baseUrl;
    this.deployment.ownEndpoints = [{ host: address, port }, publicEndpointOf(baseUrl)];
    logger.info('listening', { address, port });
    await this.refreshBacklog();
    this.backlogTimer = setInterval(() => void this.refreshBacklog(), BACKLOG_REFRESH_MS);
    return baseUrl;
  }

  /** Health says draining, and everything is served, for as long as a load balancer may take to send nothing more. */
  async announceStop(): Promise<void> {
    // Where it could not start, nobody sends anything.
    if (this.app?.getHttpServer().listening !== true) return;
    this.edge.drain.announce();
    await sleep(this.deployment.config.drainDelayMs);
  }

  /**
   * Health says draining; what is under way is answered, and nothing else.
   * @returns how many requests had no answer when the time was over
   */
  async drain(graceMs: number): Promise<number> {
    await this.edge.drain.drain(graceMs);
    return this.edge.drain.underWayCount;
  }

  /** Cuts off what the drain did not end: a server that is closed waits for its clients, however slow they are. */
  async close(): Promise<void> {
    if (this.backlogTimer) clearInterval(this.backlogTimer);
    this.app?.getHttpServer().closeAllConnections();
    await this.app?.close();
  }

  private async refreshBacklog(): Promise<void> {
    try {
      await this.deployment.backlog.refresh();
      this.unread.over();
    } catch (error) {
      this.unread.met(error);
    }
  }
}

/** A host that cannot be looked up is told as every other place that nobody can listen on, not as the database's. */
const ofListening = (error: unknown, address: string): unknown =>
  error instanceof Error && 'syscall' in error && error.syscall === 'getaddrinfo'
    ? Object.assign(error, { syscall: 'listen', address })
    : error;
