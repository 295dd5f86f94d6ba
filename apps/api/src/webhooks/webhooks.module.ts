import { Module } from '@nestjs/common';
import { WEBHOOK_HANDLERS } from '#libs/domain/webhooks';
import { LedgerModule } from '../ledger/ledger.module.js';
import { WebhookAnswers } from './webhook-answers.js';
import { WebhookDeliveriesController } from './webhook-deliveries.controller.js';
import { WebhooksController } from './webhooks.controller.js';

@Module({
  imports: [LedgerModule],
  controllers: [WebhooksController, WebhookDeliveriesController],
  providers: [...WEBHOOK_HANDLERS, WebhookAnswers],
})
export class WebhooksModule {}
