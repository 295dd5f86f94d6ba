import { Readable } from 'node:stream';
import { Controller, Get, Query, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { IsString } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { BUNDLE_MEDIA_TYPE, type BundleRange, writeBundle } from '#libs/crypto';
import { Logger } from '#libs/domain/kernel';
import { StartExport } from '#libs/domain/ledger';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { IfPresent } from '../http/shape.js';
import { DeedExport } from './deed-export.js';

class ExportDeedsQuery {
  /** Inclusive, over `issued_at`. */
  @IfPresent()
  @IsString()
  from?: string;

  /** Exclusive, over `issued_at`. */
  @IfPresent()
  @IsString()
  to?: string;
}

@Controller()
export class ExportDeedsController {
  constructor(
    private readonly exports: DeedExport,
    private readonly commands: CommandBus,
    private readonly logger: Logger,
  ) {}

  /**
   * The export bundle of a time range, written while it is read: no faster than its reader, never held in memory as a
   * whole, and cut if reading fails. The form of a bundle shows whether it was cut (docs/deed-format.md). The export is
   * recorded before its first byte goes out.
   */
  @Get('/v1/deeds/export')
  @Route({
    auth: 'session_or_key',
    role: 'viewer',
    scopes: ['deeds:read'],
    since: '2026-10-01',
    unknownQuery: 'refused',
  })
  async export(
    @Query() query: ExportDeedsQuery,
    @RequestContext() exchange: Exchange,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { content, fileName } = await this.exports.prepare(exchange.caller.org, query);
    const isAsked = exchange.request.method !== 'HEAD';
    if (isAsked) await this.record(content.range, exchange);
    void reply
      .header('Content-Type', BUNDLE_MEDIA_TYPE)
      .header('Content-Disposition', `attachment; filename="${fileName}"`);
    // HEAD gets the headers of a GET without its body, so no deed is read for it.
    if (!isAsked) return void reply.send(Readable.from([]));
    const bundle = Readable.from(writeBundle(content), { objectMode: false });
    bundle.once('error', (error) => {
      if (exchange.clientGone.aborted) return;
      this.logger.error('export ended early', { request_id: exchange.requestId, error });
    });
    void reply.send(bundle);
  }
  private async record({ from, to, first_seq, last_seq }: BundleRange, exchange: Exchange): Promise<void> {
    const { org } = exchange.caller;
    const data = { org, kind: 'deeds' as const, from, to, first_seq, last_seq };
    await this.commands.execute(new StartExport(data, exchange.commandMetadata()));
  }
}
