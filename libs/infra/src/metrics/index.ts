export { MetricsListener } from './metrics-listener.js';
export { ServiceMetrics } from './service-metrics.js';
