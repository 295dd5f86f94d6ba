import { CURRENCY_PATTERN } from '#libs/crypto';

import type { ConfigSchema } from '../config-schema.js';
import { PAYMENTS_LIMITS, REFUND_REASONS } from './payments-config.js';

/**
 * The config of a payments connector for whoever draws a form of it. The rules themselves are those of the reader beside
 * this file; a spec holds the two together.
 */
export const PAYMENTS_CONFIG_SCHEMA: ConfigSchema = {
  type: 'object',
  required: ['api_version', 'refund_limits'],
  additionalProperties: false,
  properties: {
    api_version: {
      type: 'string',
      title: 'Version of the processor',
      description: 'Sent with every request, so that answers stay as they were tested.',
      examples: ['2025-09-30.clover'],
    },
    refund_limits: {
      type: 'object',
      title: 'Largest refund, by currency',
      description: 'In minor units: 10000 for eur is €100.00. Refunds in a currency that is not here are refused.',
      maxProperties: PAYMENTS_LIMITS.currencies,
      propertyNames: { title: 'Currency', pattern: CURRENCY_PATTERN.source, examples: ['eur'] },
      additionalProperties: {
        type: 'integer',
        title: 'Limit',
        minimum: 1,
        maximum: PAYMENTS_LIMITS.amountMax,
        examples: ['10000'],
      },
    },
    refund_reasons: {
      type: 'array',
      title: 'Reasons that agents may give',
      default: [...REFUND_REASONS],
      uniqueItems: true,
      maxItems: REFUND_REASONS.length,
      items: { type: 'string', title: 'Reason', enum: [...REFUND_REASONS] },
      'x-service-form': { more: true },
    },
    base_url: {
      type: 'string',
      format: 'uri',
      title: 'Address of a processor of your own',
      description: 'For development only. Leave it empty for the real one.',
      maxLength: PAYMENTS_LIMITS.baseUrlCharacters,
      examples: ['http://127.0.0.1:12111'],
      'x-service-form': { more: true },
    },
  },
};
