// Shows the document of the server this page came from. A token that is entered stays in this page.
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "none",
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  // Nothing is asked of other servers.
  validatorUrl: null,
});
