import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Route } from '../http/route.decorator.js';
import { Health, type HealthReport } from './health.js';

@Controller('v1/health')
export class HealthController {
  constructor(private readonly health: Health) {}

  /** 200 for `ok` and `degraded`; 503 for `down` and `draining`, with Retry-After (rule API-16). */
  @Get()
  @Route({ auth: 'public', since: '2026-10-01' })
  async read(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthReport> {
    const report = await this.health.report();
    if (report.status === 'down' || report.status === 'draining') void reply.code(503).header('Retry-After', '1');
    return report;
  }
}
