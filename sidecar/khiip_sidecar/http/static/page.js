"use strict";

// The key that a reader enters stays in this page's memory: nothing is stored.
window.ui = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#description",
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  displayRequestDuration: true,
  persistAuthorization: false,
  validatorUrl: null,
});
